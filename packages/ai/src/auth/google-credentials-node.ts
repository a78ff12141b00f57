import { getErrorMessage } from "../errors.ts";
import { classifyThrown } from "../failure.ts";
import type { Env } from "../platform/platform.ts";
import { MissingCredentials } from "../protocols/protocol.ts";

interface TokenSource {
  getAccessToken(): Promise<string | null | undefined>;
}

/** By credentials file, empty for the default ones. The library keeps the tokens inside and refreshes them. */
const sources = new Map<string, TokenSource>();

/**
 * A token from Google's application default credentials: the file that GOOGLE_APPLICATION_CREDENTIALS names, the one
 * that gcloud keeps, or the machine's own identity on Google Cloud. Undefined when there is none of them.
 */
export async function accessToken(env: Env): Promise<string | undefined> {
  const { GoogleAuth } = await import("google-auth-library");
  const keyFilename = env("GOOGLE_APPLICATION_CREDENTIALS") ?? "";
  const scopes = ["https://www.googleapis.com/auth/cloud-platform"];
  const source = sources.get(keyFilename) ?? new GoogleAuth({ scopes, ...(keyFilename && { keyFilename }) });
  sources.set(keyFilename, source);
  try {
    return (await source.getAccessToken()) ?? undefined;
  } catch (error) {
    // The library remembers that it found nothing; the next request should look again.
    sources.delete(keyFilename);
    const message = getErrorMessage(error);
    // The library has no code for this one.
    if (message.startsWith("Could not load the default credentials")) return undefined;
    if (classifyThrown(error).kind === "network") throw error;
    throw new MissingCredentials(
      `Google's application default credentials could not be used: ${message} Renew them with "gcloud auth application-default login", or check GOOGLE_APPLICATION_CREDENTIALS.`,
      { cause: error },
    );
  }
}
