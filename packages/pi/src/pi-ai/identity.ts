/** How a program names itself to providers. */
export interface ClientIdentity {
  userAgent?: "short" | "detailed" | { custom: string };
  attribution?: { name: string; url: string; categories?: string[] } | null;
  version?: string;
}

interface Target {
  readonly provider: string;
  readonly baseUrl: string;
}

export const PI_AI_VERSION = "1.5.0";

export const PI_ATTRIBUTION = { name: "pi", url: "https://pi.dev", categories: ["cli-agent"] };

/** Later identities win, field by field. */
export function mergeClientIdentity(...identities: (ClientIdentity | undefined)[]): ClientIdentity | undefined {
  const fields = identities.flatMap((identity) =>
    Object.entries(identity ?? {}).filter(([, value]) => value !== undefined),
  );
  return fields.length > 0 ? (Object.fromEntries(fields) as ClientIdentity) : undefined;
}

export const getClientVersion = (identity?: ClientIdentity): string => identity?.version ?? PI_AI_VERSION;

export function formatUserAgent(identity?: ClientIdentity): string {
  const mode = identity?.userAgent ?? "detailed";
  if (typeof mode === "object") return mode.custom;
  if (mode === "short") return "pi";
  return `pi/${getClientVersion(identity)} (${process.platform}; node/${process.versions.node}; ${process.arch})`;
}

const isFor = ({ provider, baseUrl }: Target, id: string, host: string): boolean =>
  provider === id || (URL.canParse(baseUrl) && new URL(baseUrl).hostname.endsWith(host));

export function getAttributionHeaders(target: Target, identity?: ClientIdentity): Record<string, string> {
  const attribution = identity?.attribution;
  if (!attribution) return {};
  const { name, url, categories = [] } = attribution;
  if (isFor(target, "openrouter", "openrouter.ai")) {
    return {
      "HTTP-Referer": url,
      "X-Title": name,
      ...(categories.length > 0 && { "X-OpenRouter-Categories": categories.join(",") }),
    };
  }
  if (isFor(target, "nvidia", "nvidia.com")) {
    return { "X-BILLING-INVOKE-ORIGIN": name.charAt(0).toUpperCase() + name.slice(1) };
  }
  if (isFor(target, "opencode", "opencode.ai")) return { "x-opencode-client": name };
  return {};
}

export const getOpenCodeSessionHeaders = (
  target: Target,
  sessionId: string | undefined,
): Record<string, string> | undefined =>
  sessionId !== undefined && isFor(target, "opencode", "opencode.ai") ? { "x-opencode-session": sessionId } : undefined;

export const getIdentityHeaders = (target: Target, identity?: ClientIdentity): Record<string, string> => ({
  "User-Agent": formatUserAgent(identity),
  ...getAttributionHeaders(target, identity),
});

type RequestFunction = (model: unknown, context: unknown, options?: { identity?: ClientIdentity }) => unknown;

/** A collection of models whose requests have this identity unless they bring their own. */
export function withClientIdentity<T extends object>(models: T, identity: ClientIdentity): T {
  const requests = new Set<PropertyKey>(["stream", "complete", "streamSimple", "completeSimple"]);
  return new Proxy(models, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function") return value;
      // Private fields are those of the collection, not of the proxy.
      if (!requests.has(key)) return value.bind(target) as unknown;
      return (...[model, context, options]: Parameters<RequestFunction>) =>
        (value as RequestFunction).call(target, model, context, {
          ...options,
          identity: mergeClientIdentity(identity, options?.identity)!,
        });
    },
  });
}
