import type { Env } from "../platform/platform.ts";

/** A token from Google's application default credentials. The library keeps and refreshes it. */
export async function accessToken(_env: Env): Promise<string | undefined> {
  const { GoogleAuth } = await import("google-auth-library");
  auth ??= new GoogleAuth({ scopes: ["https://www.googleapis.com/auth/cloud-platform"] });
  return (await auth.getAccessToken()) ?? undefined;
}

let auth: { getAccessToken(): Promise<string | null | undefined> } | undefined;
