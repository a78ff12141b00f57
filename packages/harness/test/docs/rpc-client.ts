import { startTau } from "@tau/protocol/node";

const tau = await startTau({
  args: ["--no-session"],
  onApproval: ({ path }) =>
    path?.startsWith("/usr/include/") ? { decision: "allow", choice: "session" } : { decision: "deny" },
});
tau.onEvent((event) => {
  if (event.type === "text_delta") process.stdout.write(event.delta);
});
const { answer } = await tau.promptAndWait("What is this project?");
const { cost } = await tau.call("get_session_stats");
process.stdout.write(`\n${answer.length} characters for $${cost}\n`);
await tau.close();
