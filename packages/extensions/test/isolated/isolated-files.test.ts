/** Tests which files isolated extensions read and write, and which they never see. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFiles } from "@tau/tools";
import { describe, expect, test } from "vitest";
import { createEventBus } from "../../src/runner/create-api.ts";
import { loadIsolated } from "../../src/isolated/index.ts";
import type { ExtensionSessionPort } from "../../src/api/session-port.ts";
import type { resolvePolicy } from "@tau/policy";
import { getRuns, listExtensionRuns, readExtensionTrust } from "@tau/config/trust";
import {
  callTool,
  createPlace,
  createPorts,
  createSource,
  canIsolate,
  load,
  openPolicy,
  toolCode,
  withApi,
} from "./kit.ts";

describe.runIf(canIsolate)("an isolated extension", () => {
  test("reads and writes files of the workspace, and only with permission", async () => {
    const code = toolCode(
      `const path = ctx.cwd + "/deep/file.txt"; fs.mkdirSync(ctx.cwd + "/deep"); fs.writeFileSync(path, "one");
      fs.appendFileSync(path, "two"); await fsp.copyFile(path, ctx.cwd + "/copy.txt"); fs.renameSync(path, ctx.cwd + "/moved.txt");
      fs.unlinkSync(ctx.cwd + "/copy.txt"); const stream = fs.createWriteStream(ctx.cwd + "/streamed.txt");
      await new Promise((done) => stream.end("three", done));
      return [await fsp.readFile(ctx.cwd + "/moved.txt", "utf8"), fs.existsSync(path), fs.readdirSync(ctx.cwd).sort().join()];`,
      `import fs from "node:fs"; import fsp from "node:fs/promises";`,
    );
    const host = await load(code);
    expect(await callTool(host, "go")).toBe(JSON.stringify(["onetwo", false, "deep,moved.txt,streamed.txt"]));
    expect(readFileSync(join(host.place.cwd, "streamed.txt"), "utf8")).toBe("three");
    const denied = await load(code, { policy: { ...openPolicy, perExtension: { guest: { deny: ["write"] } } } });
    await expect(callTool(denied, "go")).rejects.toThrow(/Capability 'write' denied/);
    expect(denied.denied()).toEqual(["write:capability:extension_deny"]);
  });

  test("adds to files without losing anything, and replaces none that must not exist", async () => {
    const place = createPlace();
    const names = ["flag.txt", "stream.txt", "kept.txt", "many.txt"];
    for (const name of names) writeFileSync(join(place.cwd, name), "old ");
    const code = toolCode(
      `const at = (name) => ctx.cwd + "/" + name; const codes = [];
      const attempt = (work) => { try { work(); codes.push("done"); } catch (error) { codes.push(error.code); } };
      fs.writeFileSync(at("flag.txt"), "new", { flag: "a" });
      await new Promise((done) => fs.createWriteStream(at("stream.txt"), { flags: "a" }).end("new", done));
      await Promise.all(["1", "2", "3", "4", "5"].map((text) => fs.promises.appendFile(at("many.txt"), text)));
      attempt(() => fs.writeFileSync(at("kept.txt"), "new", { flag: "wx" }));
      attempt(() => fs.copyFileSync(at("flag.txt"), at("kept.txt"), fs.constants.COPYFILE_EXCL));
      attempt(() => fs.writeFileSync(at("kept.txt"), "new", { flag: "r+" }));
      attempt(() => fs.writeFileSync(at("kept.txt"), undefined));
      attempt(() => fs.writeFileSync(at("fresh.txt"), "new", { flag: "wx" }));
      return codes;`,
      `import fs from "node:fs";`,
    );
    const said = await callTool(await load(code, { place }), "go");
    expect(JSON.parse(said)).toEqual(["EEXIST", "EEXIST", "EACCES", "ERR_INVALID_ARG_TYPE", "done"]);
    const [flag, stream, kept, many] = names.map((name) => readFileSync(join(place.cwd, name), "utf8"));
    expect([flag, stream, kept, [...many!].toSorted().join("")]).toEqual(["old new", "old new", "old ", " 12345dlo"]);
    expect(readFileSync(join(place.cwd, "fresh.txt"), "utf8")).toBe("new");
  });

  test("copies between the workspace and its own files, and moves nothing there", async () => {
    const place = createPlace();
    writeFileSync(join(place.cwd, "a.txt"), "text");
    const code = toolCode(
      `const codes = []; const attempt = (work) => { try { work(); codes.push("done"); } catch (error) { codes.push(error.code); } };
      const [inside, own] = [ctx.cwd + "/a.txt", os.tmpdir() + "/own-" + process.hrtime.bigint()];
      attempt(() => fs.copyFileSync(inside, own)); await fs.promises.copyFile(own, ctx.cwd + "/back.txt");
      attempt(() => fs.cpSync(inside, own + "-2")); attempt(() => fs.renameSync(inside, own)); attempt(() => fs.renameSync(own, inside));
      attempt(() => fs.closeSync(fs.openSync(inside, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW)));
      fs.copyFile(own + "-none", inside, (error) => codes.push(error.code)); await new Promise(setImmediate);
      return [codes, fs.readFileSync(own, "utf8"), fs.existsSync(own + "-2"), own];`,
      `import fs from "node:fs"; import os from "node:os";`,
    );
    const host = await load(code, { place });
    const [codes, text, hasCopy, own] = JSON.parse(await callTool(host, "go")) as [string[], string, boolean, string];
    expect([codes, text, hasCopy]).toEqual([["done", "done", "EXDEV", "EXDEV", "done", "ENOENT"], "text", true]);
    expect(readFileSync(join(place.cwd, "back.txt"), "utf8")).toBe("text");
    expect(existsSync(own)).toBe(false);
    expect(host.denied()).toEqual([]);
  });

  test("is told the code of the system about a file that the host does not find", async () => {
    const policy = { ...openPolicy, defaultCaps: openPolicy.defaultCaps!.filter((name) => name !== "read") };
    const place = createPlace();
    const code = toolCode(
      `try { fs.readFileSync(${JSON.stringify(join(place.cwd, "none.txt"))}); } catch (error) { return error.code; }`,
      `import fs from "node:fs";`,
    );
    const judge = { judge: async () => undefined, createFiles: () => createFiles(), endCall: () => {} };
    const host = await load(code, { place, policy, ports: { createJudge: () => judge } });
    expect(await callTool(host, "go")).toBe("ENOENT");
  });

  test("removes and moves no link, and nothing that one leads to", async () => {
    const place = createPlace();
    writeFileSync(join(place.cwd, "kept.txt"), "text");
    mkdirSync(join(place.cwd, "empty"));
    symlinkSync("kept.txt", join(place.cwd, "link"));
    symlinkSync("empty", join(place.cwd, "directory"));
    const code = toolCode(
      `const said = []; const attempt = (work) => { try { work(); said.push("done"); } catch (error) { said.push(error.message); } };
      attempt(() => fs.unlinkSync(ctx.cwd + "/link")); attempt(() => fs.rmSync(ctx.cwd + "/link", { force: true }));
      attempt(() => fs.renameSync(ctx.cwd + "/link", ctx.cwd + "/moved")); attempt(() => fs.rmdirSync(ctx.cwd + "/directory/"));
      return said;`,
      `import fs from "node:fs";`,
    );
    const said = JSON.parse(await callTool(await load(code, { place }), "go")) as string[];
    expect(said).toEqual(Array.from({ length: 4 }, () => expect.stringContaining("a link needs trust")));
    expect(readdirSync(place.cwd).sort()).toEqual(["directory", "empty", "kept.txt", "link"]);
  });

  test("hears nothing of what is no data on a shared channel, and disturbs nobody there", async () => {
    const events = createEventBus();
    const heard: unknown[] = [];
    const host = await load(
      `export default (tau) => { tau.events.on("news", () => {}); tau.registerTool({ name: "go", label: "l", description: "d",
      parameters: { type: "object" }, execute: async () => ({ content: [{ type: "text", text: "fine" }] }) }); }`,
      { ports: { events } },
    );
    expect(await callTool(host, "go")).toBe("fine");
    events.on("news", (data) => heard.push(data));
    events.emit("news", 1n);
    expect(heard).toEqual([1n]);
    await expect
      .poll(() => host.problems.map(({ message }) => message).join())
      .toContain('Its listener to "news" failed');
  });

  test("does not see the workspace if it may not read", async () => {
    const code = toolCode(`return fs.existsSync(${JSON.stringify("FILE")});`, `import fs from "node:fs";`);
    const place = createPlace();
    writeFileSync(join(place.cwd, "readme.txt"), "text");
    const text = code.replace("FILE", join(place.cwd, "readme.txt"));
    const policy = { ...openPolicy, perExtension: { guest: { deny: ["read" as const] } } };
    expect(await callTool(await load(text, { place }), "go")).toBe("true");
    expect(await callTool(await load(text, { place, policy }), "go")).toBe("false");
  });

  test("reads what it sees of the system without asking", async () => {
    const seen = "/usr /etc/ld.so.cache /etc/localtime /etc/alternatives".split(" ").filter((path) => existsSync(path));
    const code = toolCode(
      `return ${JSON.stringify(seen)}.map((path) => fs.statSync(path).isDirectory() ? fs.readdirSync(path).length : fs.readFileSync(path).length);`,
      `import fs from "node:fs";`,
    );
    const host = await load(code, { policy: { ...openPolicy, perExtension: { guest: { deny: ["read"] } } } });
    const sizes = seen.map((path) => (statSync(path).isDirectory() ? readdirSync(path) : readFileSync(path)).length);
    expect(JSON.parse(await callTool(host, "go"))).toEqual(sizes);
    expect(host.decisions).toEqual([]);
  });

  test("works in a workspace that is among temporary files", async () => {
    const place = createPlace("/tmp");
    const code = toolCode(
      `fs.writeFileSync(ctx.cwd + "/a.txt", "a"); fs.writeFileSync(os.tmpdir() + "/b.txt", "b");
      return fs.readFileSync(ctx.cwd + "/a.txt", "utf8") + fs.readFileSync("/tmp/b.txt", "utf8");`,
      `import fs from "node:fs"; import os from "node:os";`,
    );
    expect(await callTool(await load(code, { place }), "go")).toBe("ab");
    expect(readFileSync(join(place.cwd, "a.txt"), "utf8")).toBe("a");
    expect(existsSync("/tmp/b.txt")).toBe(false);
  });

  test("does not see credentials in a workspace that is the home directory", async () => {
    const place = createPlace();
    mkdirSync(join(place.home, ".ssh"));
    writeFileSync(join(place.home, ".ssh", "id_rsa"), "the secret");
    const code = toolCode(
      `const { readFileSync } = process.getBuiltinModule?.("fs") ?? fs; return readFileSync(ctx.cwd + "/.ssh/id_rsa", "utf8") + "!";`,
      `import fs from "node:fs";`,
    );
    const host = await load(code, { place: { ...place, cwd: place.home } });
    expect(await callTool(host, "go").catch((error: Error) => error.message)).not.toContain("the secret");
  });

  test("is counted for each session in which it ran, and begins anew when it is refused something", async () => {
    const place = createPlace();
    const source = createSource(place, toolCode(`return await ctx.executeTool("read", {}).then(() => "done");`));
    const runOnce = async (policy: Parameters<typeof resolvePolicy>[0]) => {
      const { ports } = await createPorts({ place, policy: policy! });
      const extension = await loadIsolated(source, ports);
      await callTool({ extension }, "go").catch(() => "");
      await extension.close();
      return getRuns(await listExtensionRuns({ agentDir: place.agentDir }), source);
    };
    expect([await runOnce(openPolicy), await runOnce(openPolicy), await runOnce(openPolicy)]).toEqual([1, 2, 3]);
    expect(await runOnce({ ...openPolicy, denyCaps: ["tool"] })).toBe(0);
    expect(await runOnce(openPolicy)).toBe(1);
    expect(await readExtensionTrust(source, { agentDir: place.agentDir })).not.toBe("trusted");
  });

  describe("and files with secrets of the project:", () => {
    const readCode = (name: string) =>
      toolCode(
        `const path = ctx.cwd + ${JSON.stringify(`/${name}`)};
         const tries = [
           () => fs.readFileSync(path, "utf8"),
           () => fs.promises.readFile(path, "utf8"),
           () => { fs.copyFileSync(path, ctx.cwd + "/copy.txt"); return fs.readFileSync(ctx.cwd + "/copy.txt", "utf8"); },
           () => { fs.renameSync(path, ctx.cwd + "/moved.txt"); return fs.readFileSync(ctx.cwd + "/moved.txt", "utf8"); },
           () => { const fd = process.binding("fs").open(path, 0, 0o666, undefined, {}); return fs.readFileSync(fd, "utf8"); },
           () => fs.readFileSync(ctx.cwd + "/link.txt", "utf8"),
         ];
         const texts = [];
         for (const attempt of tries) try { texts.push(await attempt()); } catch (error) { texts.push(error.code); }
         return JSON.stringify(texts);`,
        `import fs from "node:fs";`,
      );

    test.each([".env", "config/.env.production", "server.pem", "keys/server.key", "id_ed25519", ".npmrc", "a.p12"])(
      "cannot read, copy or move %s, in whatever way",
      async (name) => {
        const place = createPlace();
        mkdirSync(join(place.cwd, name, ".."), { recursive: true });
        writeFileSync(join(place.cwd, name), "the secret");
        symlinkSync(name, join(place.cwd, "link.txt"));
        const host = await load(readCode(name), { place });
        expect(await callTool(host, "go")).not.toContain("the secret");
        expect(readFileSync(join(place.cwd, name), "utf8")).toBe("the secret");
        expect(host.decisions.some(({ rule }) => rule === "project-secret")).toBe(true);
      },
    );

    test("cannot read one that appears while it runs", async () => {
      const place = createPlace();
      const host = await load(readCode(".env.local"), { place });
      await callTool(host, "go");
      writeFileSync(join(place.cwd, ".env.local"), "the secret");
      const texts = JSON.parse(await callTool(host, "go")) as string[];
      // Code that goes around node:fs sees what was not there when the process started.
      expect(texts.toSpliced(4, 1)).not.toContain("the secret");
    });

    test("reads samples, and what the policy names for it alone", async () => {
      const place = createPlace();
      for (const name of [".env", ".env.example"]) writeFileSync(join(place.cwd, name), `of ${name}`);
      expect(await callTool(await load(readCode(".env.example"), { place }), "go")).toContain("of .env.example");
      const policy = (name: string) => ({ ...openPolicy, perExtension: { [name]: { secretFiles: [".env"] } } });
      expect(await callTool(await load(readCode(".env"), { place, policy: policy("guest") }), "go")).toContain(
        "of .env",
      );
      const other = createPlace();
      writeFileSync(join(other.cwd, ".env"), "the secret");
      const host = await load(readCode(".env"), { place: other, policy: policy("another") });
      expect(await callTool(host, "go")).not.toContain("the secret");
    });

    test("runs no command that names one, and its calls of tools are judged for it", async () => {
      const policy = { ...openPolicy, denyCaps: [], perExtension: { guest: { allow: ["exec" as const] } } };
      const body = `
        const texts = [];
        for (const args of [["cat", [".env"]], ["sh", ["-c", "sort < ./.env.local"]], ["cat", ["notes.txt"]]])
          texts.push(await api.exec(...args).then(() => "ran", (error) => error.code));
        await ctx.executeTool("read", { path: ".env" });
        return JSON.stringify(texts);`;
      const executeTool: ExtensionSessionPort["executeTool"] = async (_callerId, _name, _args, { onBegin }) => {
        onBegin?.("nested");
        return { result: { content: [] }, isError: false };
      };
      const host = await load(withApi(body), { policy, session: { executeTool } });
      expect(JSON.parse(await callTool(host, "go"))).toEqual(["denied", "denied", "ran"]);
      expect(host.changedCalls).toEqual(["nested"]);
    });
  });
});
