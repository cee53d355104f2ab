"""Tests run in the environment of the workflow's jobs: with one thread each, since they run side by side."""

import os

from seedbed.building.job_environment import JOB_ENVIRONMENT

os.environ |= JOB_ENVIRONMENT
