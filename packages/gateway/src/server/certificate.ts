/** The certificate that the gateway shows. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { getErrorMessage } from "@tau/ai/internal";
import { GatewayError } from "../errors.ts";
import type { GatewaySettings } from "../settings.ts";

/** Options of a server with TLS. */
export interface Certificate {
  cert: Buffer;
  key: Buffer;
  minVersion: "TLSv1.2";
}

/** Undefined where the settings name none. Throws `needs_tls` for one that cannot be used. */
export function readCertificate({ cert, key }: GatewaySettings["tls"]): Certificate | undefined {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw new GatewayError("needs_tls", "gateway.tls needs both: cert, the file with the certificates, and key.");
  }
  const certificate = readFiles(cert, key);
  try {
    createSecureContext(certificate);
  } catch (error) {
    const text = `The certificate ${cert} cannot be used with the key ${key}: ${getErrorMessage(error)}`;
    throw new GatewayError("needs_tls", text);
  }
  return certificate;
}

function readFiles(cert: string, key: string): Certificate {
  try {
    return { cert: readFileSync(cert), key: readFileSync(key), minVersion: "TLSv1.2" };
  } catch (error) {
    throw new GatewayError("needs_tls", `A file of gateway.tls cannot be read: ${getErrorMessage(error)}`);
  }
}

/** SHA-256, as Node writes it. */
export const getFingerprint = ({ cert }: Certificate): string => new X509Certificate(cert).fingerprint256;

export const isSameCertificate = (one: Certificate, other: Certificate | undefined): boolean =>
  other !== undefined && one.cert.equals(other.cert) && one.key.equals(other.key);
