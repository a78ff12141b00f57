/** Shared by the tests of logins and tokens. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { AuthStorageOptions } from "../../src/auth/auth-options.ts";
import { AuthStorage } from "../../src/auth/auth-storage.ts";
import type { OAuthCredential } from "../../src/auth/credential.ts";
import type { AuthNotice } from "../../src/auth/failure.ts";
import type { LoginEvent, LoginInteraction } from "../../src/auth/login-interaction.ts";
import type { AuthorizationServer } from "./authorization-server.ts";

/** A directory that is gone after the test. */
export function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), "tau-auth-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export interface Setup {
  directory: string;
  file: string;
  storage: AuthStorage;
  notices: AuthNotice[];
  read(): Record<string, OAuthCredential>;
  write(value: unknown): void;
}

export function setup(options: AuthStorageOptions = {}): Setup {
  const directory = scratch();
  const file = join(directory, "auth.json");
  const notices: AuthNotice[] = [];
  return {
    directory,
    file,
    storage: AuthStorage.create(directory, {
      env: () => undefined,
      onNotice: (each) => notices.push(each),
      ...options,
    }),
    notices,
    read: () => JSON.parse(readFileSync(file, "utf8")) as Record<string, OAuthCredential>,
    write: (value) => writeFileSync(file, JSON.stringify(value), { mode: 0o600 }),
  };
}

/** A stored login that the server knows. */
export function storedLogin(server: AuthorizationServer, expires: number): { here: OAuthCredential } {
  const refresh = `refresh-first-${server.refreshTokens.size}`;
  server.refreshTokens.add(refresh);
  return { here: { type: "oauth", access: "access-first", refresh, expires, note: "kept" } };
}

/** Goes to an address as a browser does, and says what it got; 0 when nobody listens. */
export const visit = (url: string) =>
  new Promise<{ status: number; text: string }>((resolve) => {
    get(url, { agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    }).on("error", () => resolve({ status: 0, text: "" }));
  });

/** A person at a browser. */
export function person(act: (event: LoginEvent) => void, paste?: LoginInteraction["paste"]) {
  const events: LoginEvent[] = [];
  const interaction: LoginInteraction = {
    notify(event) {
      events.push(event);
      act(event);
    },
    ...(paste && { paste }),
  };
  return { events, interaction };
}
