/**
 * Where programs keep credentials, as data: one record for each program, which anybody who knows the program can correct.
 *
 * Paths are separated by blanks; a `?` stands for a blank in a name. A path is a file, or a directory with everything below
 * it. A `*` stands for any part of one name, but not of the first one. No policy and no person can allow these paths, so
 * files without credentials do not belong here: outside the workspace a person is asked for them anyway.
 */
export interface CredentialProgram {
  readonly program: string;
  /** Below a home directory. What is below `.config`, `.cache` and `.local` is also looked for where XDG variables lead. */
  readonly home?: string;
  /** Below the root. */
  readonly system?: string;
  /**
   * Environment variables that lead to credentials. `NAME`: its value is the path of the file, or several paths as in
   * `PATH`. `NAME/path`: its value is a directory, and this path below it is the credential.
   */
  readonly variables?: string;
}

export const credentialPrograms: readonly CredentialProgram[] = [
  // Keys, password stores and key rings.
  { program: "GnuPG", home: ".gnupg", variables: "GNUPGHOME" },
  {
    program: "pass, gopass",
    home: ".password-store .local/share/gopass .config/gopass",
    variables: "PASSWORD_STORE_DIR",
  },
  {
    program: "age, SOPS",
    home: ".config/sops/age .config/age Library/Application?Support/sops/age",
    variables: "SOPS_AGE_KEY_FILE",
  },
  { program: "GNOME Keyring", home: ".local/share/keyrings", system: "run/user/*/keyring" },
  {
    program: "KDE Wallet",
    home: ".local/share/kwalletd .kde/share/apps/kwallet .kde4/share/apps/kwallet",
  },
  { program: "Python keyring", home: ".local/share/python_keyring" },
  { program: "NSS", home: ".pki/nssdb" },
  { program: "macOS Keychain", home: "Library/Keychains Library/Cookies", system: "Library/Keychains var/db/dslocal" },
  {
    program: "Windows Credential Manager",
    home: `AppData/Roaming/Microsoft/Credentials AppData/Local/Microsoft/Credentials AppData/Roaming/Microsoft/Protect
AppData/Local/Microsoft/Vault AppData/Roaming/Microsoft/Vault AppData/Roaming/Microsoft/Crypto`,
    system: "Windows/System32/config Windows/NTDS ProgramData/Microsoft/Crypto",
  },
  {
    program: "1Password",
    home: ".config/op .config/1Password Library/Group?Containers/*.com.1password",
    variables: "OP_CONFIG_DIR",
  },
  {
    program: "Bitwarden",
    home: `.config/bitwarden* .config/rbw .local/share/rbw .cache/rbw Library/Application?Support/Bitwarden*
AppData/Roaming/Bitwarden*`,
    variables: "BITWARDENCLI_APPDATA_DIR",
  },
  { program: "LastPass", home: ".lpass .config/lpass .local/share/lpass", variables: "LPASS_HOME" },
  {
    program: "KeePass, KeePassXC",
    home: `.keepass .config/keepassxc .cache/keepassxc .config/KeePass .local/share/KeePass
Library/Application?Support/keepassxc AppData/Roaming/KeePass AppData/Roaming/KeePassXC`,
  },
  { program: "Google Authenticator", home: ".google_authenticator" },
  {
    program: "Kerberos",
    system: "etc/krb5.keytab tmp/krb5cc*",
    variables: "KRB5CCNAME KRB5_KTNAME KRB5_CLIENT_KTNAME",
  },

  // Clouds.
  {
    program: "AWS",
    home: ".aws/credentials* .aws/sso/cache .aws/cli/cache .aws/login/cache .boto .s3cfg",
    variables:
      "AWS_SHARED_CREDENTIALS_FILE AWS_CONFIG_FILE AWS_WEB_IDENTITY_TOKEN_FILE AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE BOTO_CONFIG",
  },
  {
    program: "Azure",
    home: ".azure",
    variables: "AZURE_CONFIG_DIR AZURE_CLIENT_CERTIFICATE_PATH AZURE_FEDERATED_TOKEN_FILE AZURE_AUTH_LOCATION",
  },
  {
    program: "Google Cloud",
    home: ".config/gcloud AppData/Roaming/gcloud",
    variables:
      "GOOGLE_APPLICATION_CREDENTIALS CLOUDSDK_CONFIG CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE CLOUDSDK_AUTH_ACCESS_TOKEN_FILE",
  },
  { program: "Oracle Cloud", home: ".oci", variables: "OCI_CLI_CONFIG_FILE OCI_CLI_KEY_FILE" },
  {
    program: "IBM Cloud",
    home: ".bluemix/config.json .bluemix/plugins/container-service/clusters",
    variables: "IBMCLOUD_HOME/.bluemix/config.json BLUEMIX_HOME/.bluemix/config.json",
  },
  {
    program: "Alibaba Cloud",
    home: ".aliyun/config.json .alibabacloud/credentials",
    variables: "ALIBABA_CLOUD_CREDENTIALS_FILE",
  },
  { program: "DigitalOcean", home: ".config/doctl/config.yaml Library/Application?Support/doctl/config.yaml" },
  { program: "Hetzner", home: ".config/hcloud/cli.toml", variables: "HCLOUD_CONFIG" },
  { program: "Scaleway", home: ".config/scw/config.yaml", variables: "SCW_CONFIG_PATH" },
  { program: "Linode", home: ".config/linode-cli .linode-cli" },
  { program: "Vultr", home: ".vultr-cli.yaml" },
  {
    program: "OpenStack",
    home: ".config/openstack/clouds.yaml .config/openstack/secure.yaml",
    variables: "OS_CLIENT_CONFIG_FILE",
  },
  { program: "Fly.io", home: ".fly/config.yml", variables: "FLY_CONFIG_DIR/config.yml" },
  { program: "Heroku", home: ".local/share/heroku .config/heroku" },
  { program: "Railway", home: ".railway/config*.json" },
  { program: "Render", home: ".render/cli.yaml", variables: "RENDER_CLI_CONFIG_PATH" },
  { program: "Supabase", home: ".supabase/access-token" },
  {
    program: "Netlify",
    home: ".config/netlify/config.json .netlify/config.json Library/Preferences/netlify/config.json AppData/Roaming/netlify/Config/config.json",
  },
  {
    program: "Vercel",
    home: `.local/share/com.vercel.cli/auth.json .vercel/auth.json .now/auth.json
Library/Application?Support/com.vercel.cli/auth.json AppData/Roaming/xdg.data/com.vercel.cli/auth.json`,
  },
  {
    program: "Cloudflare",
    home: `.config/.wrangler/config .wrangler/config Library/Preferences/.wrangler/config
AppData/Roaming/xdg.config/.wrangler/config .cloudflared/cert.pem .cloudflared/*.json .cloudflared/*-token .cloudflare-warp/cert.pem
cloudflare-warp/cert.pem .cf/config.json .cfw/config`,
    system:
      "etc/cloudflared/cert.pem etc/cloudflared/*.json usr/local/etc/cloudflared/cert.pem usr/local/etc/cloudflared/*.json",
    variables: "TUNNEL_ORIGIN_CERT TUNNEL_CRED_FILE",
  },
  { program: "Firebase", home: ".config/configstore/firebase-tools.json" },
  { program: "PlanetScale", home: ".config/planetscale" },
  { program: "Neon", home: ".config/neonctl/credentials.json" },
  { program: "Turso", home: ".config/turso Library/Application?Support/turso" },
  {
    program: "ngrok",
    home: ".config/ngrok/ngrok.yml .ngrok2/ngrok.yml .ngrok/ngrok.yml Library/Application?Support/ngrok/ngrok.yml AppData/Local/ngrok/ngrok.yml",
    variables: "NGROK_CONFIG",
  },
  { program: "Tailscale", system: "var/lib/tailscale" },
  {
    program: "rclone",
    home: ".config/rclone/rclone.conf .rclone.conf AppData/Roaming/rclone/rclone.conf",
    variables: "RCLONE_CONFIG",
  },
  {
    program: "restic, borg",
    home: ".config/borg .config/restic",
    variables: "RESTIC_PASSWORD_FILE BORG_KEYS_DIR BORG_KEY_FILE",
  },
  { program: "MinIO client", home: ".mc/config.json .mcli/config.json", variables: "MC_CONFIG_DIR/config.json" },
  { program: "Stripe", home: ".config/stripe/config.toml" },
  { program: "Twilio", home: ".twilio-cli/config.json" },
  {
    program: "Sentry",
    home: ".sentryclirc .sentry/cli.db .sentry/config.json",
    variables: "SENTRY_PROPERTIES",
  },
  { program: "Datadog", home: ".dogrc" },
  { program: "Databricks", home: ".databrickscfg .databricks/token-cache.json", variables: "DATABRICKS_CONFIG_FILE" },
  {
    program: "Snowflake",
    home: ".snowflake/connections.toml .snowflake/config.toml .snowsql/config .config/snowflake",
    variables: "SNOWFLAKE_HOME/connections.toml SNOWFLAKE_HOME/config.toml PRIVATE_KEY_PATH SNOWFLAKE_PRIVATE_KEY_FILE",
  },
  {
    program: "Expo",
    home: ".expo/state.json",
    variables: "EXPO_HOME/state.json __UNSAFE_EXPO_HOME_DIRECTORY/state.json",
  },
  { program: "clasp", home: ".clasprc.json", variables: "clasp_config_auth" },

  // Secrets, infrastructure, clusters and containers.
  {
    program: "HashiCorp Vault, OpenBao",
    home: ".vault-token",
    variables: "VAULT_CLIENT_KEY VAULT_TOKEN_FILE BAO_CLIENT_KEY",
  },
  {
    program: "Consul",
    home: ".consul-token .consul.d",
    system: "etc/consul.d opt/consul/data",
    variables: "CONSUL_HTTP_TOKEN_FILE CONSUL_CLIENT_KEY",
  },
  {
    program: "Nomad",
    home: ".nomad-token .nomad.d",
    system: "etc/nomad.d",
    variables: "NOMAD_CLIENT_KEY NOMAD_TOKEN_FILE",
  },
  {
    program: "Terraform, OpenTofu",
    home: ".terraform.d/credentials.tfrc.json .terraformrc .tofurc",
    variables: "TF_CLI_CONFIG_FILE TERRAFORM_CONFIG",
  },
  {
    program: "Pulumi",
    home: ".pulumi/credentials.json",
    variables: "PULUMI_HOME/credentials.json PULUMI_CONFIG_PASSPHRASE_FILE",
  },
  {
    program: "Ansible",
    home: ".ansible/galaxy_token .vault_pass",
    variables: "ANSIBLE_VAULT_PASSWORD_FILE ANSIBLE_GALAXY_TOKEN_PATH",
  },
  { program: "Doppler", home: ".doppler", variables: "DOPPLER_CONFIG_DIR" },
  { program: "Infisical", home: ".infisical infisical-keyring" },
  {
    program: "Kubernetes",
    home: ".kube/config .kube/cache/oidc-login",
    system: "etc/kubernetes/*.conf etc/kubernetes/pki var/lib/kubelet/pki var/run/secrets run/secrets",
    variables: "KUBECONFIG KUBE_CONFIG_PATH KUBE_CONFIG_PATHS K3S_TOKEN_FILE",
  },
  {
    program: "k3s",
    system: "etc/rancher/k3s/k3s.yaml var/lib/rancher/k3s/server/token var/lib/rancher/k3s/server/tls",
  },
  {
    program: "minikube",
    home: ".minikube/*.pem .minikube/*.key .minikube/certs .minikube/profiles/*/*.key .minikube/machines/*/id_rsa",
    variables: "MINIKUBE_HOME/.minikube/certs MINIKUBE_HOME/certs MINIKUBE_HOME/ca.key MINIKUBE_HOME/profiles/*/*.key",
  },
  {
    program: "Talos",
    home: ".talos/config .talos/keys .config/talos/config.yaml .talos/clusters",
    variables: "TALOSCONFIG TALOS_HOME/config TALOS_HOME/keys",
  },
  {
    program: "Helm",
    home: ".config/helm/registry .config/helm/registry.json .config/helm/repositories.yaml Library/Preferences/helm/registry Library/Preferences/helm/repositories.yaml .helm/repository/repositories.yaml",
    variables:
      "HELM_REGISTRY_CONFIG HELM_REPOSITORY_CONFIG HELM_CONFIG_HOME/registry HELM_CONFIG_HOME/repositories.yaml",
  },
  { program: "Argo CD", home: ".config/argocd/config .argocd/config", variables: "ARGOCD_CONFIG_DIR/config" },
  {
    program: "Docker, Podman",
    home: ".docker/config.json .config/containers/auth.json .dockercfg",
    system: "etc/docker/key.json run/user/*/containers/auth.json",
    variables: "DOCKER_CONFIG/config.json DOCKER_CERT_PATH REGISTRY_AUTH_FILE",
  },

  // Version control and forges.
  { program: "netrc", home: ".netrc _netrc .authinfo .authinfo.gpg", variables: "NETRC" },
  { program: "git", home: ".git-credentials .config/git/credentials .cache/git/credential" },
  {
    program: "Subversion",
    home: ".subversion/auth Library/Application?Support/Subversion/auth AppData/Roaming/Subversion/auth",
  },
  {
    program: "GitHub",
    home: ".config/gh/hosts.yml .config/hub AppData/Roaming/GitHub?CLI/hosts.yml .config/github-copilot",
    variables: "GH_CONFIG_DIR/hosts.yml HUB_CONFIG",
  },
  {
    program: "GitLab",
    home: ".config/glab-cli/config.yml Library/Application?Support/glab-cli/config.yml .python-gitlab.cfg",
    variables: "GLAB_CONFIG_DIR/config.yml PYTHON_GITLAB_CFG",
  },
  { program: "Gitea", home: ".config/tea/config.yml Library/Application?Support/tea/config.yml" },

  // Package managers.
  {
    program: "npm, pnpm",
    home: ".npmrc .config/pnpm/rc .config/pnpm/auth.ini Library/Preferences/pnpm/rc Library/Preferences/pnpm/auth.ini",
    variables: "NPM_CONFIG_USERCONFIG npm_config_userconfig",
  },
  { program: "Yarn", home: ".yarnrc .yarnrc.yml" },
  {
    program: "Python packages",
    home: ".pypirc .config/pypoetry/auth.toml Library/Application?Support/pypoetry/auth.toml",
    variables: "POETRY_CONFIG_DIR/auth.toml",
  },
  {
    program: "uv",
    home: ".local/share/uv/credentials Library/Application?Support/uv/credentials",
    variables: "UV_CREDENTIALS_DIR",
  },
  { program: "Conda", home: ".conda/.anaconda/anaconda-token .continuum/anaconda-client/tokens .config/binstar" },
  { program: "Cargo", home: ".cargo/credentials*", variables: "CARGO_HOME/credentials CARGO_HOME/credentials.toml" },
  { program: "RubyGems", home: ".gem/credentials .local/share/gem/credentials" },
  { program: "Composer", home: ".composer/auth.json .config/composer/auth.json", variables: "COMPOSER_HOME/auth.json" },
  { program: "Maven", home: ".m2/settings.xml .m2/settings-security.xml .m2/settings-security4.xml" },
  {
    program: "Gradle",
    home: ".gradle/gradle.properties .gradle/gradle.encrypted.properties .gradle/enterprise/keys.properties .gradle/develocity/keys.properties",
    variables: "GRADLE_USER_HOME/gradle.properties GRADLE_USER_HOME/develocity/keys.properties",
  },
  {
    program: "sbt, Ivy, Coursier",
    home: ".sbt/.credentials .ivy2/.credentials .config/coursier/credentials.properties",
    variables: "COURSIER_CREDENTIALS_FILE",
  },
  {
    program: "NuGet",
    home: ".nuget/NuGet/NuGet.Config .nuget/config .config/NuGet/NuGet.Config .config/NuGet/config AppData/Roaming/NuGet/NuGet.Config .local/share/MicrosoftCredentialProvider",
  },
  { program: "Hex", home: ".hex/hex.config .config/hex/hex.config", variables: "HEX_HOME/hex.config" },
  {
    program: "Dart",
    home: ".pub-cache/credentials.json .config/dart/pub-credentials.json Library/Application?Support/dart/pub-credentials.json",
  },
  {
    program: "Hugging Face",
    home: ".huggingface/token .cache/huggingface/token .cache/huggingface/stored_tokens",
    variables: "HF_HOME/token HF_HOME/stored_tokens HF_TOKEN_PATH",
  },
  {
    program: "Kaggle",
    home: ".kaggle/kaggle.json .config/kaggle/kaggle.json",
    variables: "KAGGLE_CONFIG_DIR/kaggle.json",
  },
  { program: "Weights & Biases", home: ".config/wandb/settings" },

  // Databases, mail, transfer and desktop programs.
  {
    program: "PostgreSQL",
    home: ".pgpass .pg_service.conf AppData/Roaming/postgresql/pgpass.conf",
    variables: "PGPASSFILE PGSERVICEFILE PGSSLKEY",
  },
  {
    program: "MySQL, MariaDB",
    home: ".my.cnf .mylogin.cnf AppData/Roaming/MySQL/.mylogin.cnf",
    variables: "MYSQL_TEST_LOGIN_FILE MYSQL_HOME/my.cnf",
  },
  {
    program: "DBeaver",
    home: `.local/share/DBeaverData/workspace6/*/.dbeaver/credentials-config.json .local/share/DBeaverData/workspace6/*/.dbeaver/data-sources*.json
.local/share/DBeaverData/secure Library/DBeaverData/workspace6/*/.dbeaver/credentials-config.json Library/DBeaverData/secure
Library/DBeaverData/workspace6/*/.dbeaver/data-sources*.json AppData/Roaming/DBeaverData/workspace6/*/.dbeaver/credentials-config.json
AppData/Roaming/DBeaverData/secure .dbeaver4 .dbeaver
.var/app/io.dbeaver.DBeaverCommunity/data/DBeaverData snap/dbeaver-ce`,
  },
  {
    program: "mail",
    home: ".config/msmtp .msmtprc .fetchmailrc .mbsyncrc .config/isyncrc .offlineimaprc .thunderbird Library/Thunderbird",
  },
  { program: "Samba", home: ".smbcredentials", variables: "PASSWD_FILE" },
  {
    program: "FileZilla",
    home: ".config/filezilla .filezilla Library/Application?Support/FileZilla AppData/Roaming/FileZilla .var/app/org.filezillaproject.Filezilla",
  },
  { program: "lftp", home: ".config/lftp .lftp/bookmarks .local/share/lftp/bookmarks" },
  { program: "Remmina", home: ".local/share/remmina .config/remmina" },
  {
    program: "Slack",
    home: ".config/Slack .slack Library/Application?Support/Slack Library/Containers/com.tinyspeck.slackmacgap AppData/Roaming/Slack .var/app/com.slack.Slack snap/slack",
  },
  {
    program: "Signal",
    home: ".config/Signal* Library/Application?Support/Signal AppData/Roaming/Signal .var/app/org.signal.Signal snap/signal-desktop .local/share/signal-cli",
  },
  {
    program: "Discord, Element, Teams, Telegram, WhatsApp",
    home: `.config/discord* .config/Element* .config/Microsoft/Microsoft?Teams .config/teams-for-linux .local/share/TelegramDesktop
.var/app/com.discordapp.Discord .var/app/im.riot.Riot .var/app/org.telegram.desktop .config/whatsapp*
Library/Application?Support/discord Library/Application?Support/Element Library/Application?Support/Telegram?Desktop
AppData/Roaming/discord AppData/Roaming/Element AppData/Roaming/Telegram?Desktop`,
  },
  {
    program: "VS Code and editors made from it",
    home: `.config/Code*/User/globalStorage .config/VSCodium*/User/globalStorage .config/Cursor*/User/globalStorage
.config/Windsurf*/User/globalStorage .config/Trae*/User/globalStorage .config/Kiro*/User/globalStorage
.config/Code*/Cookies* .config/Code*/Network .config/Code*/Local?Storage .config/Cursor*/Cookies* .config/Cursor*/Local?Storage
.vscode-server/data/User/globalStorage .vscode-server-insiders/data/User/globalStorage
.cursor-server/data/User/globalStorage .vscode/cli .vscode-cli .vscode-server/cli/token.json
Library/Application?Support/Code*/User/globalStorage Library/Application?Support/VSCodium*/User/globalStorage
Library/Application?Support/Cursor*/User/globalStorage Library/Application?Support/Windsurf*/User/globalStorage
AppData/Roaming/Code*/User/globalStorage AppData/Roaming/VSCodium*/User/globalStorage
AppData/Roaming/Cursor*/User/globalStorage AppData/Roaming/Windsurf*/User/globalStorage`,
  },
  {
    program: "JetBrains",
    home: ".config/JetBrains/*/c.kdbx .config/JetBrains/*/c.pwd Library/Application?Support/JetBrains/*/c.kdbx AppData/Roaming/JetBrains/*/c.kdbx",
  },
  {
    program: "browsers",
    home: `.mozilla/firefox .config/mozilla/firefox .librewolf .waterfox .zen .config/google-chrome* .config/chromium
.config/BraveSoftware .config/microsoft-edge* .config/vivaldi* .config/opera* snap/firefox/common/.mozilla
snap/chromium/common/chromium .var/app/org.mozilla.firefox .var/app/com.google.Chrome .var/app/org.chromium.Chromium
.var/app/com.brave.Browser Library/Application?Support/Google/Chrome*
Library/Application?Support/Firefox Library/Application?Support/Chromium Library/Application?Support/BraveSoftware
Library/Application?Support/Microsoft?Edge* Library/Application?Support/Arc Library/Safari AppData/Roaming/Mozilla/Firefox
AppData/Local/Google/Chrome* AppData/Local/Microsoft/Edge* AppData/Local/BraveSoftware`,
  },
  {
    program: "wallets",
    home: ".bitcoin/wallet* .electrum/wallets .ethereum/keystore .config/solana/id.json .foundry/keystores .near-credentials",
  },
  {
    program: "X11",
    home: ".Xauthority .ICEauthority .vnc/passwd .config/tigervnc/passwd",
    system: "run/user/*/gdm/Xauthority run/user/*/xauth_* run/user/*/.mutter-Xwaylandauth*",
    variables: "XAUTHORITY ICEAUTHORITY",
  },

  // What people typed, passwords and tokens among it.
  {
    program: "histories",
    home: `.bash_history .bash_sessions .zsh_history .zsh_sessions .zhistory .histfile .history .sh_history .ash_history .ksh_history
.mksh_history .tcsh_history .local/share/fish/fish_history .local/share/fish/*_history .config/nushell/history.*
.local/state/bash/history .local/state/zsh/history .cache/zsh/history .local/share/zsh/history
.local/share/powershell/PSReadLine AppData/Roaming/Microsoft/Windows/PowerShell/PSReadLine
.python_history .ipython/profile_default/history.sqlite .node_repl_history .irb_history .pry_history .Rhistory .ghc/ghci_history
.local/share/ghc/ghci_history .julia/logs/repl_history.jl .scala_history .octave_hist .lua_history .php_history .local/share/pry
.psql_history .mysql_history .mariadb_history .sqlite_history .rediscli_history .dbshell .mongodb/mongosh .cqlsh_history .cassandra
.influx_history .duckdb_history .usql_history .mycli-history .config/litecli/history .config/pgcli/history .lesshst .viminfo
.local/share/nvim/shada .local/state/nvim/shada .local/state/less/history .local/state/python_history .units_history`,
    variables:
      "HISTFILE ZDOTDIR/.zsh_history ZDOTDIR/.histfile LESSHISTFILE PYTHON_HISTORY NODE_REPL_HISTORY PSQL_HISTORY MYSQL_HISTFILE SQLITE_HISTORY REDISCLI_HISTFILE",
  },
  {
    program: "atuin",
    home: ".local/share/atuin",
    variables: "ATUIN_DATA_DIR ATUIN_DB_PATH ATUIN_KEY_PATH ATUIN_SESSION_PATH",
  },
  { program: "McFly", home: ".mcfly .local/share/mcfly" },

  // Other agents.
  { program: "pi", home: ".pi/agent/auth.json*" },
  { program: "oh-my-pi", home: ".omp/agent/auth.json* .omp/agent/agent.db*" },
  { program: "OpenClaw", home: ".openclaw/credentials .openclaw/agents/*/agent/auth*.json*" },
  {
    program: "Claude Code",
    home: ".claude/.credentials.json .claude.json",
    variables: "CLAUDE_CONFIG_DIR/.credentials.json CLAUDE_CONFIG_DIR/.claude.json",
  },
  { program: "Codex", home: ".codex/auth.json", variables: "CODEX_HOME/auth.json" },
  { program: "Gemini CLI", home: ".gemini/oauth_creds.json .gemini/mcp-oauth-tokens*.json" },
  { program: "Qwen Code", home: ".qwen/oauth_creds.json" },
  { program: "opencode", home: ".local/share/opencode/auth.json .local/share/opencode/mcp-auth.json" },
  { program: "Goose", home: ".config/goose/secrets.yaml" },
  { program: "Amp", home: ".local/share/amp/secrets.json" },
  { program: "Cursor", home: ".config/cursor/auth.json" },
  {
    program: "Copilot CLI",
    home: ".copilot/config.json .copilot/mcp-oauth-config",
    variables: "COPILOT_HOME/config.json",
  },
  { program: "Factory", home: ".factory/auth*" },
  { program: "Kimi", home: ".kimi/credentials .kimi/config.toml" },
  { program: "Crush", home: ".local/share/crush/crush.json" },
  { program: "OpenHands", home: ".openhands/settings.json .openhands/agent_settings.json .openhands/secrets.json" },
  { program: "aider", home: ".aider/oauth-keys.env" },
  { program: "Warp", home: ".local/state/warp-terminal .local/share/warp-terminal" },
  {
    program: "llm",
    home: ".config/io.datasette.llm/keys.json Library/Application?Support/io.datasette.llm/keys.json AppData/Roaming/io.datasette.llm/keys.json",
    variables: "LLM_USER_PATH/keys.json",
  },

  // The operating system.
  {
    program: "accounts",
    system: "etc/shadow* etc/gshadow* etc/master.passwd etc/spwd.db etc/security/opasswd etc/sssd var/lib/sss/secrets",
  },
  { program: "OpenSSH server", system: "etc/ssh/ssh_host_*_key" },
  {
    program: "TLS",
    system: "etc/ssl/private etc/pki/tls/private etc/letsencrypt/live etc/letsencrypt/archive etc/letsencrypt/accounts",
    variables: "SSLKEYLOGFILE",
  },
  {
    program: "networks",
    system:
      "etc/NetworkManager/system-connections etc/wpa_supplicant etc/wireguard etc/ppp/*-secrets etc/ipsec.secrets var/lib/NetworkManager",
  },
  { program: "systemd", system: "run/credentials", variables: "CREDENTIALS_DIRECTORY" },
  {
    program: "memory of processes and of the machine",
    system: "proc/*/environ proc/*/task/*/environ proc/*/mem proc/*/task/*/mem proc/kcore dev/mem dev/kmem",
  },
];

/**
 * The contents that commands in the sandbox see instead of a hidden file, by its name in lower case: programs that read
 * these files at every start fail if such a file cannot be read.
 */
export const placeholders: ReadonlyMap<string, string> = new Map([
  ["settings.xml", "<settings/>\n"],
  ["settings-security.xml", "<settingsSecurity/>\n"],
  ["nuget.config", "<configuration/>\n"],
  ["gradle.properties", ""],
  [".yarnrc", ""],
  [".yarnrc.yml", ""],
  [".sentryclirc", ""],
  [".terraformrc", ""],
  [".tofurc", ""],
]);
