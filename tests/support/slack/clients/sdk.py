"""A bot on slack_bolt and slack_sdk in Socket Mode, and slack_sdk's check of a signature."""
import os, sys, threading, time as clock
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier

api, bot_token, app_token, secret, time, body, signature = sys.argv[1:]
# Its time is now, or this fails too.
print("signed:", SignatureVerifier(secret).is_valid(body, time, signature))
app = App(client=WebClient(token=bot_token, base_url=api), token_verification_enabled=True)
done = threading.Event()


@app.event("app_mention")
def mention(event, say):
    say(text="heard: " + event["text"], thread_ts=event["ts"])


@app.action("approve")
def approve(ack, action, body, client):
    ack()
    view = {"type": "modal", "title": {"type": "plain_text", "text": "From Python"},
            "blocks": [{"type": "section", "text": {"type": "plain_text", "text": action["value"]}}]}
    client.views_open(trigger_id=body["trigger_id"], view=view)
    print("user:", client.users_info(user=body["user"]["id"])["user"]["team_id"])
    try:
        client.views_open(trigger_id=body["trigger_id"], view=view)
    except SlackApiError as error:
        print("twice:", error.response["error"])
    try:
        client.reactions_add(channel="C0OPS", name="eyes", timestamp="1.1")
    except SlackApiError as error:
        print("limited:", error.response.headers.get("Retry-After"))
    client.files_upload_v2(content="a log", filename="a.log", channel="C0OPS")
    done.set()


SocketModeHandler(app, app_token, web_client=WebClient(token=app_token, base_url=api)).connect()
good = done.wait(20)
sys.stdout.flush()
# Its acknowledgement leaves by another thread, which looks every ten milliseconds.
clock.sleep(1)
os._exit(0 if good else 1)
