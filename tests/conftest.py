"""Tests run in the environment of the workflow's jobs: with one thread each, since they run side by side.

No test depends on the speed of the machine: drawn examples have no deadline.
"""

import os

from hypothesis import HealthCheck, settings

from seedbed.building.job_environment import JOB_ENVIRONMENT

os.environ |= JOB_ENVIRONMENT
settings.register_profile("seedbed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("seedbed")
