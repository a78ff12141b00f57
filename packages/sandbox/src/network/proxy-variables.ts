/** The variables by which programs find a proxy. Pure. */

const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

interface ProxyVariablesOptions {
  /** Whether anything can be reached through the proxy. */
  isOpen: boolean;
  /** The version of Node of this process, which commands mostly run too. */
  nodeVersion: string;
}

export function getProxyVariables(
  port: number,
  { isOpen, nodeVersion }: ProxyVariablesOptions,
): Record<string, string> {
  const url = `http://127.0.0.1:${port}`;
  // Servers of other commands are reached without it.
  const direct = "localhost,127.0.0.1,::1";
  const pairs = names.flatMap((name): [string, string][] => [
    [name, url],
    [name.toLowerCase(), url],
  ]);
  return {
    ...Object.fromEntries(pairs),
    NO_PROXY: direct,
    no_proxy: direct,
    // Newer versions of Node use the variables above only if a variable says so. Node 22 then prints a warning at each start.
    ...((isOpen || !nodeVersion.startsWith("22.")) && { NODE_USE_ENV_PROXY: "1" }),
    // Nobody asked for this request, and its refusal would be reported when a command fails for another reason.
    npm_config_update_notifier: "false",
  };
}
