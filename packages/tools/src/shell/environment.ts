/** The environment of commands: without secrets, and without variables that cause prompts or colours. Pure. */
import { withoutUndefined } from "@tau/ai/internal";
import { looksLikeKey } from "../platform/key-patterns.ts";

const secretNames = [
  /(^|_)(API|ACCESS|PRIVATE|SECRET|SIGNING|ENCRYPTION|MASTER|AUTH|SSH|DEPLOY|SERVICE|ACCOUNT)_?KEYS?(_|$)/,
  /(^|_)(TOKENS?|PAT|JWT|APIKEYS?|COOKIES?|PASS|PWD|PASSPHRASE)(_|$)/,
  /SECRET|PASSWORD|PASSWD|CREDENTIAL/,
  /(TOKENS?|PASS|KEYS?)\d*$|_AUTH$|_DSN$|AUTHORIZATION|CONNECTION_STRING|^OP_SESSION/,
  /^(AWS|AZURE)_/,
  /WEBHOOK/,
  /^(NPM_CONFIG_.*AUTH.*|PGPASSFILE|DOCKER_AUTH_CONFIG)$/,
];

/** Names that look like secrets and are none. */
const harmlessNames = new Set(["PWD", "OLDPWD", "SSH_AUTH_SOCK"]);

/**
 * A password inside an address, as in `https://user:password@host`. Only the last character of the scheme is matched: a
 * search for a whole one takes half a minute in a long value that has none.
 */
const hasUserInfo = /[a-z0-9+.-]:\/\/[^\s@/]+@/i;

/**
 * A password in a connection string, as in `Server=db;Password=…`, `host=db password=…` and `?user=me&password=…`, the keys
 * of Azure's, and Oracle's `jdbc:oracle:thin:user/password@…`.
 */
const hasPasswordField =
  /(?:^|[^a-z0-9_])(?:password|passwd|passphrase|pwd|pass|(?:account|sharedaccess|shared_access|access|api|secret)_?key|sharedaccesssignature|accesstoken|access_token|authtoken|auth_token|client_?secret|secret)\s{0,3}=\s{0,3}["']?[^\s;&,"']|:thin:[^\s/@]{1,100}\/[^\s@]{1,100}@/i;

/** Whether the value of a variable has a password in it, whatever its name is. */
export const holdsPassword = (value: string): boolean => hasUserInfo.test(value) || hasPasswordField.test(value);

/** Startup files and injected code: they would run before the command. */
const hooks = /^(BASH_ENV|ENV|BASH_FUNC_.*|PROMPT_COMMAND|PS4|SHELLOPTS|BASHOPTS|CDPATH|GLOBIGNORE)$/;

/** They make programs behave as in a build system, or print colours. */
const presentation = /^(CI|CONTINUOUS_INTEGRATION|BUILD_NUMBER|FORCE_COLOR|CLICOLOR_FORCE|COLORTERM|COLUMNS|LINES)$/;

const settings: Readonly<Record<string, string>> = {
  TERM: "dumb",
  NO_COLOR: "1",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
};

/** Whether a variable of this name is taken for a secret. */
export function isSecretName(name: string): boolean {
  const upper = name.toUpperCase();
  return !harmlessNames.has(upper) && secretNames.some((pattern) => pattern.test(upper));
}

/** Whether a variable holds a secret that the caller knows of. */
export type IsSecret = (name: string, value: string) => boolean;

/** The environment without secrets, hooks and colours, and with what keeps output plain. */
export function cleanEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  isSecret: IsSecret = () => false,
): Record<string, string> {
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || isSecretName(name) || hooks.test(name) || presentation.test(name)) continue;
    if (holdsPassword(value) || looksLikeKey(value) || isSecret(name, value)) continue;
    kept.push([name, value]);
  }
  return { ...Object.fromEntries(kept), ...settings };
}

export interface CommandEnvOptions {
  /** The environment that commands get, without secrets. Default: our own. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Variables that are given to commands as they are, also those that look like secrets. */
  addedEnv?: Readonly<Record<string, string>>;
  /** Called for each command: more variables. One that is undefined is not given, also if our environment has it. */
  getSessionEnv?: () => Readonly<Record<string, string | undefined>>;
  /** Called for each command: variables for which its result is true are not given to it, also those of `addedEnv`. */
  createIsSecret?: () => IsSecret;
}

/** The environment of one command. */
export function getCommandEnv({ env, addedEnv, getSessionEnv, createIsSecret }: CommandEnvOptions) {
  const isSecret = createIsSecret?.() ?? (() => false);
  const added = Object.entries(addedEnv ?? {}).filter(([name, value]) => !isSecret(name, value));
  const all: Record<string, string | undefined> = {
    ...cleanEnvironment(env ?? process.env, isSecret),
    ...getSessionEnv?.(),
    ...Object.fromEntries(added),
  };
  return withoutUndefined(all) as Record<string, string>;
}
