/** Adds a rule to the policy of a session instead of replacing it. */
import type { Decide, PolicyCall, PolicyRequest, Verdict } from "./policy.ts";

/**
 * Judges a request beside the policy. `next` gives the policy's own verdict, at most one for a request. Undefined leaves that as it
 * is. A rule that throws denies.
 */
export type PolicyRule = (
  request: PolicyRequest,
  next: () => Promise<Verdict>,
  call: PolicyCall | undefined,
) => Verdict | undefined | Promise<Verdict | undefined>;

interface ExtendPolicyOptions {
  /**
   * Lets the rule allow what the policy would ask about, except commands of the tier critical and what is about credentials. Default
   * false: the stricter of both verdicts applies. What the policy denies stays denied in any case.
   */
  override?: boolean;
}

/** A policy that is built upon another one: upon that of the session, as the parameter `decide` of `createAgentSession`. */
export interface PolicyExtension {
  readonly extend: (policy: Decide) => Decide;
}

/** Creates a value for the parameter `decide` of `createAgentSession`, by which `rule` joins the session's own policy. */
export const extendPolicy = (rule: PolicyRule, { override = false }: ExtendPolicyOptions = {}): PolicyExtension => ({
  extend: (policy) => async (request, call) => {
    let decided: Promise<Verdict> | undefined;
    const next = () => (decided ??= Promise.resolve(policy(request, call)));
    const wanted = await rule(request, next, call);
    return combineVerdicts(await next(), wanted, override);
  },
});

/** Pure. */
export function combineVerdicts(own: Verdict, wanted: Verdict | undefined, isOverride: boolean): Verdict {
  if (!wanted) return own;
  const exec = own.exec && { exec: own.exec };
  if (isOverride && wanted.kind === "allow" && isLiftable(own)) return { ...wanted, ...exec };
  if (own.kind === "ask" && wanted.kind === "ask") return wanted.asksEachTime ? { ...own, asksEachTime: true } : own;
  return strictness[wanted.kind] > strictness[own.kind] ? { ...wanted, ...exec } : own;
}

const strictness: Readonly<Record<Verdict["kind"], number>> = { allow: 0, ask: 1, deny: 2 };

/** Whether a rule may answer the question. One that is asked each time is about a secret, or about text of strangers. */
const isLiftable = (own: Verdict): boolean =>
  own.kind === "ask" &&
  !own.asksEachTime &&
  own.rule !== "secret" &&
  own.exec?.tier !== "critical" &&
  own.exec?.class !== "credential_change";
