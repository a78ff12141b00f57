type Env = (name: string) => string | undefined;

/** The environment with the setting `httpProxy`: the variable that applies last, and only if it is not set. Pure. */
export const withProxySetting =
  (env: Env, getProxy: () => string | undefined): Env =>
  (name) =>
    env(name) || (name === "all_proxy" && !env("ALL_PROXY") ? getProxy() : undefined);
