"""nova-compute, so that one host of Nova's fake driver carries a thousand servers, each with a serial port (serial_ports.py).

Before each server it makes, it asks Placement for what all others have, one by one: the thousandth would wait for half a
minute. Only drivers that move resources between providers read the answer; the fake one has a single provider.
"""
import sys

from nova.cmd.compute import main
from nova.scheduler.client.report import SchedulerReportClient

from serial_ports import plug_in

SchedulerReportClient.get_allocations_for_provider_tree = lambda self, context, nodename: {}
plug_in()
sys.exit(main())
