import type { Io } from "./command.ts";
import { getErrorExitCode, UsageError } from "../process/errors.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { formatPromptHint, isSentence } from "../process/prompt-hint.ts";
import { untilInterrupted } from "../process/until-interrupted.ts";
import { commandHelp } from "./command-help.ts";
import { commands, featureCommands } from "./index.ts";
import { type CommandArgs, parseCommandArgs, parseUsages } from "./usage.ts";

/** Runs a command or subcommand. Returns nothing if it is done. */
type Runner = (args: CommandArgs, io: Io) => Promise<ExitCode | void>;

/** The code behind each command, loaded when it runs. */
const runners: Readonly<Record<string, Runner | Readonly<Record<string, Runner>>>> = {
  sessions: {
    list: async (args, io) => await untilInterrupted((await import("./sessions-list.ts")).list(args, io), io),
    search: async (args, io) => await untilInterrupted((await import("./sessions-search.ts")).search(args, io), io),
    tree: async (args, io) => await untilInterrupted((await import("./sessions-tree.ts")).showTree(args, io), io),
    show: async (args, io) => await untilInterrupted((await import("./sessions-show.ts")).show(args, io), io),
    switch: async (args, io) => (await import("./sessions-change.ts")).switchTo(args, io),
    branch: async (args, io) => (await import("./sessions-change.ts")).branchFrom(args, io),
    rename: async (args, io) => (await import("./sessions-change.ts")).rename(args, io),
    delete: async (args, io) => (await import("./sessions-delete.ts")).deleteSessions(args, io),
    restore: async (args, io) => (await import("./sessions-delete.ts")).restoreSessions(args, io),
    export: async (args, io) =>
      await untilInterrupted((await import("./sessions-export.ts")).exportSession(args, io), io),
    share: async (args, io) => (await import("./sessions-share.ts")).shareSession(args, io),
    send: async (args, io) => (await import("./sessions-send.ts")).send(args, io),
    import: async (args, io) => (await import("./sessions-import.ts")).importFile(args, io),
    repair: async (args, io) => await untilInterrupted((await import("./sessions-repair.ts")).repair(args, io), io),
  },
  stats: async (args, io) => await untilInterrupted((await import("./stats.ts")).showStats(args, io), io),
  models: {
    "": async (args, io) => (await import("./models.ts")).listModels(args, io),
    update: async (args, io) => (await import("./models-update.ts")).updateModels(args, io),
  },
  auth: {
    login: async (args, io) => (await import("./auth-login.ts")).login(args, io),
    logout: async (args, io) => (await import("./auth-login.ts")).logout(args, io),
    move: async (args, io) => (await import("./auth-login.ts")).move(args, io),
    status: async (args, io) => (await import("./auth-status.ts")).showStatus(args, io),
    check: async (args, io) => (await import("./auth-check.ts")).check(args, io),
    "print-api-key": async (args, io) => (await import("./auth-check.ts")).printApiKey(args, io),
    "print-bearer-token": async (args, io) => (await import("./auth-check.ts")).printBearerToken(args, io),
  },
  import: async (args, io) => (await import("./import.ts")).importAll(args, io),
  install: async (args, io) => (await import("./install.ts")).install(args, io),
  remove: async (args, io) => (await import("./remove.ts")).remove(args, io),
  update: async (args, io) => (await import("./update.ts")).update(args, io),
  list: async (args, io) => (await import("./list.ts")).listPackages(args, io),
  extensions: {
    list: async (args, io) => (await import("./extensions.ts")).list(args, io),
    trust: async (args, io) => (await import("./extensions.ts")).trust(args, io),
    kill: async (args, io) => (await import("./extensions.ts")).kill(args, io),
    revive: async (args, io) => (await import("./extensions.ts")).revive(args, io),
  },
  config: {
    "": async (args, io) => (await import("./config-resources.ts")).configureResources(args, io),
    get: async (args, io) => (await import("./config.ts")).get(args, io),
    set: async (args, io) => (await import("./config.ts")).set(args, io),
    unset: async (args, io) => (await import("./config.ts")).unset(args, io),
    edit: async (args, io) => (await import("./config.ts")).edit(args, io),
    path: async (args, io) => (await import("./config.ts")).printPath(args, io),
    schema: async (args, io) => (await import("./config.ts")).printSchema(args, io),
  },
  sandbox: {
    run: async (args, io) => (await import("./sandbox.ts")).runInside(args, io),
    explain: async (args, io) => (await import("./sandbox.ts")).explain(args, io),
  },
  policy: {
    check: async (args, io) => (await import("./policy-check.ts")).check(args, io),
    explain: async (args, io) => (await import("./policy-explain.ts")).explain(args, io),
    rules: async (args, io) => (await import("./policy-rules.ts")).manageRules(args, io),
  },
  audit: {
    verify: async (args, io) => (await import("./audit.ts")).verify(args, io),
    tail: async (args, io) => (await import("./audit.ts")).tail(args, io),
  },
  gateway: {
    "": async (args, io) => (await import("./gateway.ts")).runGateway(args, io),
    status: async (args, io) => (await import("./gateway-control.ts")).showStatus(args, io),
    reload: async (args, io) => (await import("./gateway-control.ts")).reloadGateway(args, io),
    stop: async (args, io) => (await import("./gateway-control.ts")).stopGateway(args, io),
    logs: async (args, io) => (await import("./gateway-logs.ts")).showLogs(args, io),
    token: async (args, io) => (await import("./gateway-devices.ts")).printToken(args, io),
    devices: async (args, io) => (await import("./gateway-devices.ts")).listDevices(args, io),
    pair: async (args, io) => (await import("./gateway-devices.ts")).pair(args, io),
    "hook-token": async (args, io) => (await import("./gateway-hook-token.ts")).printHookToken(args, io),
    revoke: async (args, io) => (await import("./gateway-devices.ts")).revoke(args, io),
  },
  channels: {
    list: async (args, io) => (await import("./channels.ts")).listChannels(args, io),
    login: async (args, io) => (await import("./channels.ts")).logInChannel(args, io),
    test: async (args, io) => (await import("./channels.ts")).testChannel(args, io),
    logs: async (args, io) => (await import("./channels.ts")).showChannelLogs(args, io),
    pair: async (args, io) => (await import("./channels.ts")).pairPeer(args, io),
    peers: async (args, io) => (await import("./channels.ts")).listPeers(args, io),
    unpair: async (args, io) => (await import("./channels.ts")).unpairPeer(args, io),
    outbox: async (args, io) => (await import("./channels.ts")).showOutbox(args, io),
    resend: async (args, io) => (await import("./channels.ts")).resendReply(args, io),
    drop: async (args, io) => (await import("./channels.ts")).dropReply(args, io),
  },
  routes: {
    list: async (args, io) => (await import("./routes.ts")).listRoutes(args, io),
    explain: async (args, io) => (await import("./routes.ts")).explainRoute(args, io),
  },
  cron: {
    list: async (args, io) => (await import("./cron.ts")).listSchedules(args, io),
    add: async (args, io) => (await import("./cron.ts")).addSchedule(args, io),
    remove: async (args, io) => (await import("./cron.ts")).removeSchedule(args, io),
    run: async (args, io) => (await import("./cron.ts")).runSchedule(args, io),
    runs: async (args, io) => (await import("./cron.ts")).listScheduleRuns(args, io),
    pause: async (args, io) => (await import("./cron.ts")).pauseSchedule(args, io),
    resume: async (args, io) => (await import("./cron.ts")).resumeSchedule(args, io),
  },
  acp: {
    "": async (args, io) => (await import("./acp.ts")).serveEditor(args, io),
    login: async (args, io) => (await import("./auth-login.ts")).login(args, io),
  },
  mcp: { serve: async (args, io) => (await import("./mcp-serve.ts")).serveMcp(args, io) },
  fan: async (args, io) => (await import("./fan.ts")).runFan(args, io),
  commit: async (args, io) => (await import("./commit.ts")).runCommit(args, io),
  attach: async (args, io) => (await import("./attach.ts")).attach(args, io),
  trust: async (args, io) => (await import("./trust.ts")).trustProject(args, io),
  doctor: async (args, io) => (await import("./doctor.ts")).runChecks(args, io),
  completion: async (args, io) => (await import("./completion.ts")).printScript(args, io),
  demo: async (args, io) => (await import("./demo.ts")).runDemo(args, io),
  help: async (args, io) => (await import("./help-topics.ts")).showTopic(args, io),
};

/** Parses the arguments of a command and runs it. Throws `UsageError` if they do not fit a usage line. */
export async function runCommand(name: string, args: readonly string[], io: Io): Promise<ExitCode | void> {
  const command = commands.find((candidate) => candidate.name === name)!;
  const usages = parseUsages(command);
  const parsed = parseCommandArgs(usages, args);
  const hasOptions = args.some((argument) => argument.startsWith("-"));
  const promptHint = hasOptions ? "" : formatPromptHint([name, ...args]);
  switch (parsed.kind) {
    case "help":
      return io.out(commandHelp(command));
    case "invalid": {
      const { didYouMean } = await import("@tau/ai/internal");
      const { message, wanted, known = [], isWord = false } = parsed;
      const suggestion = wanted === undefined ? "" : didYouMean(wanted, known);
      // A single word with a suggestion is misspelled, and no sentence.
      const isTypo = suggestion !== "" && args.length === 1;
      throw new UsageError("arguments", `${message}.${suggestion}${isWord && !isTypo ? promptHint : ""}`);
    }
    case "args": {
      const { subcommand, positionals } = parsed.args;
      const usage = usages.find((candidate) => candidate.subcommand === subcommand)!;
      const mayBePrompt = promptHint !== "" && usage.positionals.at(-1)?.isMany === true && isSentence(positionals);
      const running = run(name, parsed.args, io);
      return await (mayBePrompt ? running.catch((error: unknown) => failWithHint(error, promptHint)) : running);
    }
  }
}

async function run(name: string, args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const runner = runners[name];
  const ofProgram = typeof runner === "function" ? runner : runner?.[args.subcommand];
  if (ofProgram) return await ofProgram(args, io);
  const ofFeature = featureCommands.find((candidate) => candidate.name === name)!;
  return await (await import("./feature-command.ts")).runFeatureCommand(ofFeature, args, io);
}

/** Adds the hint where the words name nothing that there is. */
function failWithHint(error: unknown, promptHint: string): never {
  if (!(error instanceof Error) || getErrorExitCode(error) !== exitCodes.usage) throw error;
  throw new UsageError("invalid_input", `${error.message}${promptHint}`, { cause: error });
}
