/** Credentials that a program prints: the setting `credential_process` of a profile. */
import { exec } from "node:child_process";
import { MissingCredentials } from "../../protocols/protocol.ts";
import { asRecord, tryParseJson } from "../../json.ts";
import { readTemporary, type Temporary } from "./ask.ts";

/** It may ask for a fingerprint or open a browser. */
const timeoutMs = 60_000;
const maxBuffer = 64 * 1024;

/** The command is the user's own, from a file in their home directory. */
export async function loadFromProcess(command: string, profile: string): Promise<Temporary> {
  const fail = (reason: string) =>
    new MissingCredentials(`The credential_process of the AWS profile ${JSON.stringify(profile)} ${reason}.`);
  const output = await new Promise<string>((resolve, reject) => {
    const child = exec(command, { timeout: timeoutMs, maxBuffer, windowsHide: true }, (error, stdout) => {
      // Not the message of the error, which has the command.
      if (!error) resolve(stdout);
      else if (error.killed) reject(fail(`did not end within ${timeoutMs / 1000} s, or printed too much`));
      else reject(fail(`failed (${error.code ?? error.signal ?? "no exit code"})`));
    });
    child.stdin?.end();
  });
  const answer = asRecord(tryParseJson(output));
  const credentials = answer["Version"] === 1 ? readTemporary(answer, "SessionToken") : undefined;
  if (!credentials) throw fail("printed no credentials of version 1");
  return credentials;
}
