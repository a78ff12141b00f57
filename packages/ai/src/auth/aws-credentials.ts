/** Credentials to sign requests to AWS. */
export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Only with temporary credentials. */
  sessionToken?: string;
}

/** The credentials from AWS's environment variables; undefined unless both keys are set. */
export function envAwsCredentials(env: (name: string) => string | undefined): AwsCredentials | undefined {
  return awsCredentials({
    accessKeyId: env("AWS_ACCESS_KEY_ID"),
    secretAccessKey: env("AWS_SECRET_ACCESS_KEY"),
    sessionToken: env("AWS_SESSION_TOKEN"),
  });
}

/** Credentials from parts that may be missing; undefined unless both keys are set. */
export function awsCredentials(parts: {
  [Part in keyof Required<AwsCredentials>]: string | undefined;
}): AwsCredentials | undefined {
  const { accessKeyId, secretAccessKey, sessionToken } = parts;
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}
