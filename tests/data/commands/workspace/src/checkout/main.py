"""Checkout: takes an order and asks payments for the money."""

import logging
import time

from checkout import payments

log = logging.getLogger("checkout")


def handle(order):
    started = time.monotonic()
    # TODO: one deadline for the whole request
    try:
        receipt = payments.charge(order, timeout=5.0)
    except TimeoutError:
        log.error("charge timed out for order %s", order["id"])
        raise
    log.info("order %s took %.3f s", order["id"], time.monotonic() - started)
    return receipt
