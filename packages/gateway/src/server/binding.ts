/** The address that the server listens on, and the certificate that it shows. */
import { GatewayError } from "../errors.ts";
import type { GatewaySettings } from "../settings.ts";
import { isLoopback } from "./address.ts";
import { type Certificate, getFingerprint, isSameCertificate, readCertificate } from "./certificate.ts";

type BindingSettings = Pick<GatewaySettings, "host" | "port" | "tls">;

export class Binding {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  #certificate: Certificate | undefined;
  readonly #listeners = new Set<(certificate: Certificate) => void>();

  /** Throws `needs_tls` for a certificate that cannot be used, and for an address that needs one. */
  constructor({ host, port, tls }: BindingSettings) {
    this.host = host;
    this.port = port;
    this.#certificate = readCertificate(tls);
    if (!this.#certificate && !isLoopback(host)) throw needsTls(host);
  }

  /** Undefined without TLS. */
  get certificate(): Certificate | undefined {
    return this.#certificate;
  }

  get isSecure(): boolean {
    return this.#certificate !== undefined;
  }

  /** SHA-256 of the certificate, as Node writes it. Undefined without TLS. */
  get fingerprint(): string | undefined {
    return this.#certificate && getFingerprint(this.#certificate);
  }

  /** Calls the listener with each certificate that takes the place of another. */
  onCertificate(listener: (certificate: Certificate) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Reads the certificate again, for connections from now on. Answers whether it is another one. Throws `needs_tls` for one
   * that cannot be used; the one before stays. Does nothing without TLS.
   */
  reloadCertificate({ tls }: Pick<BindingSettings, "tls">): boolean {
    const next = this.isSecure ? readCertificate(tls) : undefined;
    if (!next || isSameCertificate(next, this.#certificate)) return false;
    for (const listener of this.#listeners) listener(next);
    this.#certificate = next;
    return true;
  }

  /** Names the settings that differ from those of the start, and that apply only after a restart. */
  listStaleSettings({ host, port, tls }: BindingSettings): string[] {
    const stale = {
      "gateway.host": host !== this.host,
      "gateway.port": port !== this.port,
      "gateway.tls": (tls.cert !== undefined) !== this.isSecure,
    };
    return Object.entries(stale).flatMap(([name, isStale]) => (isStale ? [name] : []));
  }
}

function needsTls(host: string): GatewayError {
  const advice =
    "Set gateway.tls.cert and gateway.tls.key, or listen on 127.0.0.1 and put a server with TLS before it.";
  return new GatewayError(
    "needs_tls",
    `Without TLS the gateway listens on this machine only, not on ${host}. ${advice}`,
  );
}
