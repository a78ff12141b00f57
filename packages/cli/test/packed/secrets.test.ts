/** 200 secrets in 25 formats: keys that the program uses, and variables that commands get. None of them stays anywhere. */
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import { startWireServer } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory, textReply, toolReply } from "../kit.ts";
import { runPacked, sleeping, start } from "./kit.ts";
import { findSecrets, type PlantedSecret, plantSecrets } from "./planted-secrets.ts";

const own = plantSecrets("OWN", 1);
const given = plantSecrets("GIVEN", 7);
const all = [...own, ...given];
const used = own.find(({ format }) => format === "openai")!;

/** The user allowed every command to have the given secrets, and has a provider for each key. */
async function createPlaces(replies: readonly WireReply[]) {
  const root = await temporaryDirectory();
  const [directory, agentDir, home, tmp] = ["project", "agent", "home", "tmp"].map((name) => join(root, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const path of [directory, agentDir, home, tmp]) await mkdir(path);
  const server = await startWireServer("openai-completions", replies);
  onTestFinished(() => server.close());
  const models = [{ id: "small", contextWindow: 64_000, maxTokens: 4_000 }];
  const providers = own.map((secret) => [
    secret === used ? "acme" : secret.format.toLowerCase(),
    { baseUrl: server.url, api: "openai-completions", apiKey: `$${secret.name}`, models },
  ]);
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: Object.fromEntries(providers) }));
  await writeFile(
    join(agentDir, "settings.json"),
    JSON.stringify({ defaultModel: "acme/small", retry: { maxRetries: 0 } }),
  );
  const rules = given.map(({ name }) => ({ capability: "env", target: { kind: "name", name } }));
  await writeFile(join(agentDir, "approvals.json"), JSON.stringify({ version: 1, rules }));
  const env = {
    HOME: home,
    TMPDIR: tmp,
    ...Object.fromEntries(all.map(({ name, value }) => [name, value])),
  };
  return { root, directory, agentDir, tmp, server, env };
}

/** Every secret in a file, with the name of the file. */
async function findInFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map(async (file) => [file, await readFile(file, "latin1")] as const));
  const bytes = (secret: PlantedSecret) => ({ ...secret, value: Buffer.from(secret.value).toString("latin1") });
  return texts.flatMap(([file, text]) =>
    findSecrets(text, [...all, ...all.map(bytes)]).map((name) => `${name} in ${file}`),
  );
}

const print = (secrets: readonly PlantedSecret[], format = "%s\\n") =>
  toolReply("bash", { command: `printf '${format}' ${secrets.map(({ name }) => `"$${name}"`).join(" ")}` });

test(
  "no secret is in a file, an output or an export, whatever a run does with them",
  { timeout: 300_000 },
  async () => {
    const quoted = own.map(({ value }) => value).join("\n");
    // Of its end, which is shown, a request carries only a part: the whole is kept beside the session.
    const line = "an ordinary line of text\n";
    const long = `${line.repeat(4_000)}${quoted}\n${line.repeat(900)}`;
    const config = `before\nkey = "${used.value}"\nafter\n`;
    const place = await createPlaces([
      print(given.slice(0, 60)),
      print(given.slice(60, 120)),
      print(given.slice(120), "[%s]"),
      // More output than is shown: the whole of it is kept in a file.
      toolReply("bash", { command: `for n in $(seq 4000); do printf '%s\\n' "$${given[0]!.name}"; done` }),
      toolReply("bash", { command: `for n in $(seq 4000); do printf '%s\\n' "$${given[9]!.name}"; done; exit 3` }),
      toolReply("bash", { command: `echo "$${given[1]!.name}" >&2; exit 3` }),
      toolReply("bash", { command: "env; cat keys.txt" }),
      toolReply("read", { path: "keys.txt" }),
      toolReply("bash", { command: "cat long.txt" }),
      toolReply("grep", { pattern: ".", path: "keys.txt" }),
      toolReply("read", { path: "config.ini" }),
      toolReply("edit", {
        path: "config.ini",
        edits: [{ oldText: `key = "${used.value}"`, newText: `key2 = "${used.value}"` }],
      }),
      toolReply("write", { path: "new.txt", content: `${quoted}\n` }),
      textReply(`These are your keys: ${quoted}`),
      { kind: "status", status: 401, body: JSON.stringify({ error: { message: `Incorrect API key: ${used.value}` } }) },
      textReply(`Again: ${used.value}`),
    ]);
    const { directory, agentDir, env, root, tmp, server } = place;
    await writeFile(join(directory, "keys.txt"), quoted);
    await writeFile(join(directory, "long.txt"), long);
    await writeFile(join(directory, "config.ini"), config);
    const first = await runPacked(place, ["--sandbox", "off", "--mode", "json", "Show me everything."], { env });
    expect(first.code).toBe(0);
    expect(server.requests[0]?.headers["authorization"]).toBe(`Bearer ${used.value}`);
    // No frame has what a command was given. A key that the model or a file of the user quotes is shown as it is.
    expect(first.out).toContain("tool_execution_end");
    expect(findSecrets(first.out, given)).toEqual([]);
    // The model gets none of the variables, and sees the files of the user as they are.
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    expect(findSecrets(sent, given)).toEqual([]);
    expect(sent).toContain(used.value);
    // What tools write is what the model wrote.
    expect(await readFile(join(directory, "config.ini"), "utf8")).toBe(config.replace("key =", "key2 ="));
    expect(await readFile(join(directory, "new.txt"), "utf8")).toBe(`${quoted}\n`);
    const refused = await runPacked(place, ["-p", "--continue", "Again."], { env });
    const json = await runPacked(place, ["--mode", "json", "--continue", "Again."], { env });
    for (const format of ["md", "html", "jsonl"]) {
      const exported = await runPacked(place, ["sessions", "export", "--format", format], { env });
      expect(exported.code).toBe(0);
      expect(findSecrets(exported.out, all), format).toEqual([]);
    }
    expect(findSecrets(refused.err + refused.out, all)).toEqual([]);
    expect(json.out).toContain("agent_end");
    // Undo gives the files of the project back byte for byte, so what is in them is in its copies, which only their owner can open.
    const undo = join(agentDir, "undo");
    expect((await stat(undo)).mode & 0o777).toBe(0o700);
    await rm(undo, { recursive: true });
    expect(await findInFiles(agentDir)).toEqual([]);
    expect(await findInFiles(tmp)).toEqual([]);
    expect(await readdir(root)).toHaveLength(4);
  },
);

/** The text of a file in `/proc` of every process; of one that has ended, nothing. */
function readProcesses(file: "cmdline" | "environ"): Map<number, string> {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return new Map(
    pids.flatMap((pid) => {
      try {
        return [[Number(pid), readFileSync(join("/proc", pid, file), "utf8")] as const];
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(code ?? "")) return [];
        throw error;
      }
    }),
  );
}

test.each(["off", "auto"])(
  "with the sandbox %s, a secret is in the environment of the one command that got it",
  async (mode) => {
    const [job, command] = [sleeping(), sleeping()];
    const secret = given[3]!;
    const place = await createPlaces([
      toolReply("bash", { command: job, background: true }),
      toolReply("bash", { command: `test -n "$${secret.name}" && ${command}` }),
      textReply("Done."),
    ]);
    const program = await start(place, ["--sandbox", mode, "-p", "Go."], { env: place.env });
    const findRunning = (text: string) =>
      [...readProcesses("cmdline")].find(([, line]) => line.split("\0").join(" ").trim() === text)?.[0];
    await expect.poll(() => findRunning(job) !== undefined && findRunning(command) !== undefined).toBe(true);
    const [jobPid, commandPid] = [findRunning(job)!, findRunning(command)!];
    const environments = readProcesses("environ");
    expect(findSecrets(environments.get(commandPid)!, all)).toEqual([secret.name]);
    expect(findSecrets(environments.get(jobPid)!, all)).toEqual([]);
    for (const [pid, line] of readProcesses("cmdline")) expect(findSecrets(line, all), `process ${pid}`).toEqual([]);
    // Every other process that has one is the program itself, or this command's.
    const commandLines = readProcesses("cmdline");
    for (const [pid, text] of environments) {
      const names = findSecrets(text, all);
      if (names.length === 0 || commandLines.get(pid)?.includes("tau.cjs")) continue;
      expect({ names, line: commandLines.get(pid) }).toEqual({
        names: [secret.name],
        line: expect.stringContaining("sleep"),
      });
    }
    program.child.kill("SIGTERM");
    await program.ended;
  },
);
