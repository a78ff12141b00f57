import { platform } from "#platform";
import { withHeader } from "../../auth/api-key.ts";
import { envAwsCredentials } from "../../auth/aws-credentials.ts";
import { signV4 } from "../../auth/sigv4.ts";
import type { HttpRequest } from "../../transport/http.ts";
import { type AuthContext, MissingCredentials } from "../protocol.ts";
import { arnRegion, resolveEndpoint } from "./endpoint.ts";
import type { BedrockOptions } from "./options.ts";

/**
 * Sends the request to its region, with a bearer token where there is one and a signature otherwise. What the caller
 * names for this request wins over what the environment holds.
 */
export async function authorize(request: HttpRequest, auth: AuthContext<BedrockOptions>): Promise<HttpRequest> {
  const { env, options, model } = auth;
  // Someone may set a variable to nothing to take it back.
  const asked = arnRegion(model.id) ?? options.region ?? (env("AWS_REGION") || env("AWS_DEFAULT_REGION") || undefined);
  const { url, region } = resolveEndpoint(request.url, asked);
  const placed = { ...request, url };

  const profile = options.profile ?? options.env?.["AWS_PROFILE"];
  const namesSigner = options.credentials !== undefined || profile !== undefined;
  const token = options.bearerToken ?? options.apiKey ?? (namesSigner ? undefined : auth.apiKey);
  if (token) return withHeader(placed, "authorization", `Bearer ${token}`);

  const credentials =
    options.credentials ??
    (profile === undefined ? envAwsCredentials(env) : undefined) ??
    (await platform.awsCredentials(env, profile));
  if (!credentials) throw new MissingCredentials(missingText(model.provider, profile ?? env("AWS_PROFILE")));
  return await signV4(placed, credentials, { region, service: "bedrock", nowMs: auth.clock.now() });
}

const missingText = (provider: string, profile: string | undefined): string =>
  profile === undefined
    ? `There are no AWS credentials for ${provider}. Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE for a profile in ~/.aws/credentials.`
    : `The AWS profile ${JSON.stringify(profile)} holds no keys for ${provider}. Add aws_access_key_id and aws_secret_access_key to it in ~/.aws/credentials, or name another profile. For a profile with single sign-on or a role, set the variables that \`aws configure export-credentials\` prints.`;
