/**
 * Names of files in a project that hold secrets, as data. The model and its commands may read them, since people need them for
 * their work. Isolated extensions may not, unless the policy names the file for them: they may send what they read to any
 * host. Pure.
 */
import { basename } from "node:path";
import { foldName } from "@tau/tools/platform";

/** In lower case. A `*` stands for any part of a name. */
const names = `
.env .env.* *.env .envrc .dev.vars .dev.vars.* .flaskenv
*.pem *.key *.p8 *.p12 *.pfx *.ppk *.jks *.keystore *.bks *.kdbx *.kdb
id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk id_rsa_* id_ed25519_*
.npmrc .yarnrc.yml .pypirc .netrc _netrc .pgpass .my.cnf .git-credentials .htpasswd .dockercfg .dockerconfigjson .s3cfg .boto
.clasprc.json .sentryclirc auth.json credentials credentials.json credentials.yml credentials.yaml credentials.toml
credentials.csv credentials.xml client_secret*.json service-account*.json service_account*.json serviceaccount*.json
*-service-account*.json *_service_account*.json *serviceaccountkey*.json google-services-key*.json firebase-adminsdk*.json
*firebase-adminsdk*.json gcp-key*.json
secrets.json secrets.yml secrets.yaml secrets.toml secrets.env secret.json secret.yml secret.yaml secret.toml .secrets
*.secret *.secrets master.key kubeconfig *.kubeconfig kubeconfig.yaml kubeconfig.yml *.tfstate *.tfstate.backup *.tfvars
*.auto.tfvars.json .vault_pass .vault-pass .vault_password .vault-token local.settings.json keystore.properties
`;

/** Samples without secrets, and public halves of keys. */
const open = `
.env.example .env.*.example .env.sample .env.*.sample .env.template .env.*.template .env.dist .env.*.dist .env.defaults
example.env sample.env template.env *.example.env *.sample.env *.pub.pem *.pub.key *.example.tfvars
`;

const toRegExp = (text: string): RegExp => {
  const patterns = text
    .trim()
    .split(/\s+/)
    .map((name) => name.replaceAll(".", "\\.").replaceAll("*", ".*"));
  return new RegExp(`^(?:${patterns.join("|")})$`, "s");
};

let compiled: { secret: RegExp; open: RegExp } | undefined;

/** Whether a file holds secrets of a project by its name, in any spelling that some file system takes for the same one. */
export function isProjectSecret(path: string): boolean {
  compiled ??= { secret: toRegExp(names), open: toRegExp(open) };
  const name = foldName(basename(path));
  // An exception must not grow because two names look alike.
  return compiled.secret.test(name) && !(name === basename(path) && compiled.open.test(name));
}

/** Whether the policy of an extension names the file. */
export const isNamedFor = (path: string, secretFiles: readonly string[] = []): boolean =>
  secretFiles.some((name) => name === basename(path));

export const projectSecretReason = (path: string): string =>
  `${path} may hold secrets of the project, so extensions that are not trusted do not get it. The user can allow it with policy.perExtension.NAME.secretFiles.`;
