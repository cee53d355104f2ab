"""Tests run side by side, so each keeps to one thread, as every job of the workflow does."""

import os

from seedbed.building.threads import ONE_THREAD

os.environ |= ONE_THREAD
