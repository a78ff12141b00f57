import { expect, test } from "vitest";
import { mentionsUser, toPlainText } from "./slack-text.ts";

test.each([
  ["<@UTAU> what now?", "what now?"],
  ["<@UTAU|tau> what now?", "what now?"],
  ["What does <@UTAU> say?", "What does say?"],
  ["Ask <@U2> and <@W3|cat>", "Ask @U2 and @cat"],
  ["In <#C2|general> or <#C3> or <#C4|>", "In #general or #C3 or #C4"],
  ["<!here> <!channel> <!everyone|everyone> <!here|@here>", "@here @channel @everyone @here"],
  ["<!subteam^S1|@ops> <!subteam^S2>", "@ops @S2"],
  ["<!date^1392734382^{date}|Feb 18>", "Feb 18"],
  ["See <https://a.example/x?a=1&amp;b=2>", "See https://a.example/x?a=1&b=2"],
  ["<https://evil.example|your bank>", "your bank (https://evil.example)"],
  ["<http://a.example|a.example> <mailto:ann@a.example|ann@a.example>", "a.example ann@a.example"],
  ["1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"],
  ["&amp;lt;@U2&amp;gt;", "&lt;@U2&gt;"],
  ["&lt;@UTAU&gt;", "<@UTAU>"],
  ["<@UTAU> /status", "/status"],
])("the text %j is read as %j", (text, plain) => {
  expect(toPlainText(text, "UTAU")).toBe(plain);
});

test.each([
  ["Hi <@UTAU>", true],
  ["Hi <@UTAU|tau>", true],
  ["Hi <@UTAU2>", false],
  ["Hi &lt;@UTAU&gt;", false],
  ["Hi @tau", false],
])("%j mentions the account: %j", (text, isMentioned) => {
  expect(mentionsUser(text, "UTAU")).toBe(isMentioned);
});
