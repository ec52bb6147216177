// A bot on @slack/bolt in Socket Mode: answers a mention, acknowledges a click, opens a modal, is refused.
const { App } = require('@slack/bolt');
const [, , api, botToken, appToken] = process.argv;
(async () => {
  const clientOptions = { slackApiUrl: api, retryConfig: { retries: 0 }, rejectRateLimitedCalls: true };
  const app = new App({ token: botToken, appToken, socketMode: true, clientOptions });
  app.event('app_mention', async ({ event, say }) => say({ text: `heard: ${event.text}`, thread_ts: event.ts }));
  app.action('approve', async ({ ack, action, body, client }) => {
    await ack();
    const title = { type: 'plain_text', text: 'From bolt' };
    const text = { type: 'plain_text', text: action.value };
    await client.views.open({ trigger_id: body.trigger_id, view: { type: 'modal', title, blocks: [{ type: 'section', text }] } });
    const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: 'x'.repeat(3001) } }];
    const refused = await client.chat.postMessage({ channel: 'C0OPS', text: 'x', blocks }).catch((error) => error.data.error);
    const limited = await client.reactions.add({ channel: 'C0OPS', name: 'eyes', timestamp: '1.1' }).catch((error) => error.retryAfter);
    console.log(`refused: ${refused}, limited: ${limited}`);
    await app.stop();
    process.exit(0);
  });
  await app.start();
})().catch((error) => { console.error(error.message); process.exit(1); });
