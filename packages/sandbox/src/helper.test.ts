import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openHelper } from "./helper.ts";

test.each(["", "not JSON", '{ "child-pid": '])(
  "a bubblewrap that reports nothing useful about itself (%j) is a sandbox that cannot be started",
  async (info) => {
    const directory = mkdtempSync(join(tmpdir(), "tau-helper-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const bwrap = join(directory, "bwrap");
    writeFileSync(bwrap, `#!/bin/sh\nprintf '%s' '${info}' >&5; echo >&6; read -r line <&6\n`);
    chmodSync(bwrap, 0o755);
    const options = {
      bwrap,
      helper: "none",
      arguments: [],
      filter: Buffer.alloc(0),
      capabilities: "0",
      socketDirectories: [],
    };
    await expect(openHelper(options)).rejects.toThrow("bubblewrap did not report the id of its first process.");
  },
);
