/** A program that changes files together and is killed before the file system call of this number. See `change-journal.test.ts`. */
import { join } from "node:path";
import { createChangeFilesTool } from "../src/changes/change-files.ts";
import { createChangeJournal } from "../src/changes/journal.ts";
import { createFileQueue } from "../src/files/file-queue.ts";
import { createFiles } from "../src/platform/files.ts";
import { type FileSystem, nodeFileSystem } from "../src/platform/file-system.ts";

const [directory = "", callCount = "", changes = "[]"] = process.argv.slice(2);

let calls = 0;
const watch = <T extends object>(target: T): T =>
  new Proxy(target, {
    get(object, property, receiver) {
      const value: unknown = Reflect.get(object, property, receiver);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        calls++;
        if (calls === Number(callCount)) process.kill(process.pid, "SIGKILL");
        const result: unknown = Reflect.apply(value, object, args);
        return property === "open" ? (result as Promise<object>).then(watch) : result;
      };
    },
  });
const fileSystem: FileSystem = watch({ ...nodeFileSystem });
const journal = createChangeJournal({ directory: join(directory, "journal"), fileSystem });
const ports = { cwd: join(directory, "work"), files: createFiles({ fileSystem }), queue: createFileQueue() };
await createChangeFilesTool({ ...ports, journal }).execute("id", { changes: JSON.parse(changes), reason: "test" });
process.stdout.write(String(calls));
