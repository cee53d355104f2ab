import signal

import pytest

from seedbed.building.snakemake_process import Stop


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTSTP])
def test_what_nohup_or_a_shell_without_jobs_ignores_stays_ignored(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with Stop():
            assert signal.getsignal(number) == signal.SIG_IGN
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP])
def test_a_signal_before_snakemake_interrupts_and_the_handlers_come_back(number: signal.Signals) -> None:
    outside = signal.signal(number, signal.default_int_handler)
    try:
        with Stop() as stop, pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        assert stop.code == 128 + number
        assert signal.getsignal(number) == signal.default_int_handler
    finally:
        signal.signal(number, outside)
