/** Kernels in the sandbox of a session: files, network, environment and permissions are those of its commands. */
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Question } from "@tau/policy";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import type { Language } from "../../src/kernels/feature.ts";
import { hasSandbox, languages, openKernels } from "./kit.ts";

afterEach(() => vi.unstubAllEnvs());

const read = (language: Language, path: string) =>
  language === "python"
    ? `open(${JSON.stringify(path)}).read()`
    : `require("fs").readFileSync(${JSON.stringify(path)}, "utf8")`;

test.skipIf(!hasSandbox)("credentials that commands do not see are hidden from cells", async () => {
  const home = realpathSync(mkdtempSync(join(homedir(), ".tau-kernel-test-")));
  onTestFinished(() => rmSync(home, { recursive: true }));
  for (const [directory, name] of [
    [".ssh", "id_rsa"],
    [".aws", "credentials"],
  ] as const) {
    mkdirSync(join(home, directory));
    writeFileSync(join(home, directory, name), "very-secret");
    chmodSync(join(home, directory, name), 0o600);
  }
  vi.stubEnv("HOME", home);
  vi.stubEnv("ANTHROPIC_API_KEY", "very-secret");
  const { run, callTool } = await openKernels({ sandbox: { mode: "required" } });
  const env = await callTool("bash", { command: "env" });
  const names = new Set(env.text.split("\n").map((line) => line.split("=")[0]!));
  expect(names).toContain("HOME");
  for (const language of languages) {
    for (const path of [".ssh/id_rsa", ".aws/credentials"]) {
      const cell = await run(language, read(language, join(home, path)));
      expect(cell.isError, cell.text).toBe(true);
      expect(cell.text).not.toContain("very-secret");
    }
    const own = (await run(language, language === "python" ? "import os\ndict(os.environ)" : "({ ...process.env })"))
      .details.value as Record<string, string>;
    expect(Object.values(own).join()).not.toContain("very-secret");
    expect(own["HOME"]).toBe(home);
    const added = ["MPLBACKEND", "PYTHONUNBUFFERED", "NODE_OPTIONS", "NODE_REPL_EXTERNAL_MODULE", "LC_CTYPE"];
    const ofShells = ["_", "SHLVL", "PWD", "OLDPWD"];
    const differing = [...Object.keys(own), ...names].filter((name) => name in own !== names.has(name));
    expect(
      differing.filter((name) => ![...added, ...ofShells].includes(name) && /^(?!.*PYENV)\w+$/.test(name)),
    ).toEqual([]);
  }
});

test.skipIf(!hasSandbox)(
  "what is allowed once for a command does not extend to a kernel, which asks for nothing",
  async () => {
    let connections = 0;
    const server = createServer((_request, response) => {
      connections++;
      response.end("the answer");
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, "127.0.0.2"), "listening");
    const host = `127.0.0.2:${(server.address() as AddressInfo).port}`;
    const outside = realpathSync(mkdtempSync(join(tmpdir(), "tau-outside-")));
    onTestFinished(() => rmSync(outside, { recursive: true }));
    const questions: Question[] = [];
    const { run, callTool } = await openKernels({
      sandbox: { mode: "auto" },
      ask: async (question) => {
        questions.push(question);
        const rule = question.choices.find((choice) => choice.rule?.startsWith("network "))?.rule;
        return { decision: "allow", choice: "once", ...(rule !== undefined && { rule }) };
      },
    });
    const command = await callTool("bash", { command: `curl -sSf http://${host}/` });
    expect(command.text).toContain("the answer");
    expect(connections).toBe(1);
    expect(questions).toHaveLength(1);
    for (const language of languages) {
      const get =
        language === "python"
          ? `import urllib.request\nurllib.request.urlopen("http://${host}/", timeout=5).read()`
          : `await (await fetch("http://${host}/")).text()`;
      const cell = await run(language, get);
      expect(cell.isError, cell.text).toBe(true);
      const path = join(outside, language);
      const write =
        language === "python"
          ? `open("/etc/tau-${language}", "w")`
          : `require("fs").writeFileSync("/etc/tau-${language}", "")`;
      expect((await run(language, write)).isError).toBe(true);
      expect(existsSync(`/etc/tau-${language}`)).toBe(false);
      expect(existsSync(path)).toBe(false);
    }
    expect(connections).toBe(1);
    // Policy questions about the code are others: neither the network nor a run outside was asked for.
    const rules = questions.flatMap(({ toolName, choices }) =>
      toolName === "eval" ? choices.map(({ rule = "" }) => rule.split(" ")[0]) : [],
    );
    expect(rules).not.toContain("network");
    expect(rules).not.toContain("outside");
  },
);

test.each([...(hasSandbox ? (["required"] as const) : []), "off" as const])(
  "no port is opened for the inspector, with the sandbox %s",
  async (mode) => {
    const { run } = await openKernels({ sandbox: { mode } });
    const code = `[require("node:inspector").url() ?? null, process.execArgv.filter((arg) => arg.startsWith("--inspect"))]`;
    const cell = await run("javascript", code);
    expect(cell.details.value, cell.text).toEqual([null, []]);
  },
);
