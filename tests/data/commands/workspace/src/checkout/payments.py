"""The client of payments."""

RETRIES = 3


def charge(order, timeout):
    for attempt in range(RETRIES):
        answer = post("/charge", order, timeout=timeout)
        if answer.status == 200:
            return answer.body
    raise TimeoutError("payments")
