import { expect, test } from "vitest";
import { isFromSlack, signSlackRequest } from "./slack-signature.ts";

/** The example of Slack's documentation. */
const example = {
  secret: "8f742231b10e8888abcd99yyyzzz85a5",
  seconds: "1531420618",
  body: "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
  signature: "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
};

test("the signature is that of Slack's own example", () => {
  expect(signSlackRequest(example.secret, example.seconds, example.body)).toBe(example.signature);
});

test.each([
  [{}, 0, true],
  [{}, 299_000, true],
  [{}, -301_000, false],
  [{}, 301_000, false],
  [{ "x-slack-signature": example.signature.replace("a2", "a3") }, 0, false],
  [{ "x-slack-signature": example.signature.slice(0, -1) }, 0, false],
  [{ "x-slack-signature": [example.signature, example.signature] }, 0, false],
  [{ "x-slack-request-timestamp": `${example.seconds}.0` }, 0, false],
  [{ "x-slack-request-timestamp": undefined }, 0, false],
])("with %j and %i ms later, the request is from Slack: %j", (change, laterMs, isFrom) => {
  const headers = { "x-slack-request-timestamp": example.seconds, "x-slack-signature": example.signature, ...change };
  const nowMs = Number(example.seconds) * 1_000 + laterMs;
  expect(isFromSlack({ headers, body: Buffer.from(example.body) }, example.secret, nowMs)).toBe(isFrom);
});
