import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { addressCases } from "./cases/address.ts";
import { approvalCases } from "./cases/approvals.ts";
import { channelCases } from "./cases/channels.ts";
import { codeCases } from "./cases/code.ts";
import { commandCases } from "./cases/commands.ts";
import { extensionCases } from "./cases/extensions.ts";
import { keyboardCases } from "./cases/keyboard.ts";
import { layoutCases } from "./cases/layout.ts";
import { linkCases } from "./cases/links.ts";
import { listCases } from "./cases/list.ts";
import { messageCases } from "./cases/messages.ts";
import { networkCases } from "./cases/network.ts";
import { pairingCases } from "./cases/pairing.ts";
import { scheduleCases } from "./cases/schedules.ts";
import { scrollingCases } from "./cases/scrolling.ts";
import { sessionCases } from "./cases/sessions.ts";
import { sizeCases } from "./cases/size.ts";
import { transcriptCases } from "./cases/transcript.ts";
import { treeCases } from "./cases/tree.ts";
import { undoCases } from "./cases/undo.ts";
import { usageCases } from "./cases/usage.ts";
import { xssCases } from "./cases/xss.ts";
import { createBegin, findBrowserProblem, openPageKit, type PageKit, type Shared } from "./kit.ts";

const problem = findBrowserProblem();
if (problem !== undefined) console.warn(`The tests of the page are skipped: ${problem}`);

/** Shares a browser and a gateway among all of them: starting them takes longer than most tests. */
describe.skipIf(problem !== undefined)("the page", () => {
  let kit: PageKit;
  let hasFailed = false;
  beforeAll(async () => {
    kit = await openPageKit();
  });
  // A test that failed may have left turns of the model, runs, questions or settings.
  beforeEach(async ({ onTestFailed }) => {
    onTestFailed(() => void (hasFailed = true));
    if (!hasFailed) return;
    await kit.close();
    kit = await openPageKit();
    hasFailed = false;
  });
  afterAll(() => kit.close());
  const shared: Shared = {
    get kit() {
      return kit;
    },
    begin: createBegin(() => kit),
  };
  sizeCases(shared);
  pairingCases(shared);
  listCases(shared);
  transcriptCases(shared);
  codeCases(shared);
  approvalCases(shared);
  messageCases(shared);
  sessionCases(shared);
  commandCases(shared);
  extensionCases(shared);
  treeCases(shared);
  scheduleCases(shared);
  channelCases(shared);
  undoCases(shared);
  usageCases(shared);
  networkCases(shared);
  keyboardCases(shared);
  layoutCases(shared);
  scrollingCases(shared);
  linkCases(shared);
  addressCases(shared);
  xssCases(shared);
});
