/** Asks a person, once for each port, whether programs of this machine may reach a server that runs in the sandbox. */
import { getErrorMessage, untilAborted } from "@tau/ai/internal";
import type { PortPolicy } from "@tau/sandbox/internal";
import { type JudgeParts, judgeTarget } from "./judge.ts";
import { findGrant } from "./prepare-question.ts";
import { listOffers, toOfferedChoice } from "./offers.ts";
import type { Decision, PolicyRequest, Question } from "./policy.ts";

/** `getParts` is called for each question: who answers may change. */
export function createPortPolicy(getParts: () => PortParts): PortPolicy {
  return {
    async getStanding(port) {
      const parts = getParts();
      const request = getRequest(parts, port);
      const { verdict } = await judgeTarget(parts, request);
      if (verdict.kind === "deny") return "closed";
      if (await isRemembered(parts, request)) return "open";
      // In the permission mode free nothing is asked, and a port leads out of the sandbox.
      return parts.ask && parts.getMode() !== "free" ? "ask" : "closed";
    },
    async ask(port, signal) {
      const parts = getParts();
      const outcome = await askPerson(parts, port, signal);
      const decision = { ...getCall(port), request: getRequest(parts, port), rule: "sandbox", ...outcome };
      // What cannot be written down is not done.
      const isWritten = await Promise.resolve(decision)
        .then((fact) => parts.audit(fact))
        .then(
          () => true,
          () => false,
        );
      return isWritten && outcome.outcome === "allowed";
    },
  };
}

type PortParts = Pick<
  JudgeParts,
  "decide" | "ask" | "audit" | "subject" | "cwd" | "home" | "getMode" | "files" | "ids" | "grants" | "remembered"
>;

/** The address as people type it. Not a host: it leads inside, and allows no request to the outside. */
const getAddress = (port: number): string => `127.0.0.1:${port}`;

const getRequest = ({ subject }: PortParts, port: number): PolicyRequest => ({
  subject,
  capability: "http",
  target: { kind: "name", name: `port ${getAddress(port)}` },
});

/** There is no call: the server runs in the background, and a program outside wants to reach it. */
const getCall = (port: number) => ({ toolCallId: `port-${port}`, toolName: "bash" });

const isRemembered = async (parts: PortParts, { capability, target }: PolicyRequest): Promise<boolean> =>
  (await findGrant(parts, { capability, target })) !== undefined;

type Outcome = Pick<Decision, "outcome" | "by" | "reason">;

async function askPerson(parts: PortParts, port: number, signal: AbortSignal): Promise<Outcome> {
  const { ask, ids, grants, remembered } = parts;
  if (!ask) return { outcome: "denied", reason: "No person is there to ask." };
  const request = getRequest(parts, port);
  const { capability, target } = request;
  const offers = listOffers({ capability, target }, parts);
  const address = getAddress(port);
  const question: Question = {
    id: ids(),
    ...getCall(port),
    summary: `Open ${address} to programs of this machine`,
    reason: `A program of this machine wants to reach ${address}, where a command in the sandbox listens. The setting sandbox.ports opens a port without a question.`,
    host: address,
    choices: offers.map(toOfferedChoice),
    request,
  };
  try {
    const asked = await untilAborted((async () => await ask(question, signal))(), signal);
    if (asked.kind === "aborted")
      return { outcome: "denied", by: "abort", reason: "Aborted before a person answered." };
    const { decision, choice = "once", rule, by = "person", message } = asked.value;
    if (decision !== "allow") return { outcome: "denied", by, reason: message ?? `${by} did not allow it.` };
    const offer = offers.find((each) => each.choice === choice && (rule ?? each.rule) === each.rule);
    if (!offer) return { outcome: "denied", by, reason: "The answer names a rule that was not offered." };
    if (choice === "project" || choice === "always") await remembered.add(choice, offer.given);
    if (choice === "session") grants.grant(offer.given, "session");
    return { outcome: "allowed", by };
  } catch (error) {
    return { outcome: "denied", reason: `No person could be asked: ${getErrorMessage(error)}` };
  }
}
