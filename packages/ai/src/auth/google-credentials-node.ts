import { getErrorMessage } from "../errors.ts";
import { classifyThrown } from "../failure.ts";
import type { Env } from "../platform/platform.ts";
import { MissingCredentials } from "../protocols/protocol.ts";

interface TokenSource {
  getAccessToken(): Promise<string | null | undefined>;
}

const missingLibrary =
  "Google's application default credentials need the package google-auth-library. Install it with `npm install google-auth-library`, or use an API key.";

/** By path of the credentials file, empty for the default. The library caches and refreshes the tokens. */
const sources = new Map<string, TokenSource>();

/**
 * A token from Google's application default credentials: the file in GOOGLE_APPLICATION_CREDENTIALS, gcloud's own file,
 * or the identity of the machine on Google Cloud. Undefined if there are no credentials.
 */
export async function accessToken(env: Env): Promise<string | undefined> {
  const { GoogleAuth } = await import("google-auth-library").catch((error: unknown) => {
    throw new MissingCredentials(missingLibrary, { cause: error });
  });
  const keyFilename = env("GOOGLE_APPLICATION_CREDENTIALS") ?? "";
  const scopes = ["https://www.googleapis.com/auth/cloud-platform"];
  const source = sources.get(keyFilename) ?? new GoogleAuth({ scopes, ...(keyFilename && { keyFilename }) });
  sources.set(keyFilename, source);
  try {
    return (await source.getAccessToken()) ?? undefined;
  } catch (error) {
    // The library caches the failure; the next request should try again.
    sources.delete(keyFilename);
    const message = getErrorMessage(error);
    // The library has no error code for missing credentials.
    if (message.startsWith("Could not load the default credentials")) return undefined;
    if (classifyThrown(error).kind === "network") throw error;
    const isDirectory = (error as NodeJS.ErrnoException).code === "EISDIR";
    const reason = isDirectory ? `${keyFilename} is a directory, not a file` : message.replace(/\.$/, "");
    throw new MissingCredentials(
      `Google's application default credentials could not be used: ${reason}. Renew them with "gcloud auth application-default login", or check GOOGLE_APPLICATION_CREDENTIALS.`,
      { cause: error },
    );
  }
}
