import { platform } from "#platform";
import { withHeader } from "../../auth/api-key.ts";
import { envAwsCredentials } from "../../auth/aws-credentials.ts";
import { signV4 } from "../../auth/sigv4.ts";
import type { HttpRequest } from "../../transport/http.ts";
import { type AuthContext, MissingCredentials } from "../protocol.ts";
import { parseArnRegion, resolveEndpoint } from "./endpoint.ts";
import type { BedrockOptions } from "./options.ts";

/**
 * Sends the request to its region, with a bearer token if there is one, else with a signature. The request's options
 * take precedence over the environment.
 */
export async function authorize(request: HttpRequest, auth: AuthContext<BedrockOptions>): Promise<HttpRequest> {
  const { env, options, model } = auth;
  // An empty variable counts as unset.
  const requestedRegion =
    parseArnRegion(model.id) ?? options.region ?? (env("AWS_REGION") || env("AWS_DEFAULT_REGION") || undefined);
  const { url, region } = resolveEndpoint(request.url, requestedRegion);
  const regional = { ...request, url };

  const profile = options.profile ?? options.env?.["AWS_PROFILE"];
  const requestsSigning = options.credentials !== undefined || profile !== undefined;
  const token = options.bearerToken ?? options.apiKey ?? (requestsSigning ? undefined : auth.apiKey);
  if (token) return withHeader(regional, "authorization", `Bearer ${token}`);

  const credentials =
    options.credentials ??
    (profile === undefined ? envAwsCredentials(env) : undefined) ??
    (options.ambientCredentials === false ? undefined : await platform.awsCredentials(env, profile));
  if (!credentials) throw new MissingCredentials(describeMissing(model.provider, profile ?? env("AWS_PROFILE")));
  return await signV4(regional, credentials, { region, service: "bedrock", nowMs: auth.clock.now() });
}

const describeMissing = (provider: string, profile: string | undefined): string =>
  profile === undefined
    ? `There are no AWS credentials for ${provider}. Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE for a profile in ~/.aws.`
    : `The AWS profile ${JSON.stringify(profile)} has no credentials for ${provider}. Give it keys, a role, sso_session, credential_process or web_identity_token_file in ~/.aws/config, or name another profile.`;
