/** The identifiers of a person: an email address, a phone, or the ID of a lead, each in one canonical form. */
import { domainToASCII } from "node:url";

/** An identifier as it is compared: an address in lower case, digits without the 1 of the US, or a UUID. */
export interface PersonIdentifier {
  readonly kind: "email" | "phone" | "id";
  readonly value: string;
}

/** Returns the key by which email addresses are compared: in NFC and lower case, with the domain in ASCII. */
export function emailKey(email: string): string {
  const key = email.trim().toLowerCase().normalize("NFC");
  // An ASCII domain stays as it is: domainToASCII would make the IP address 1.2.0.3 of 1.2.3.
  return withDomain(key, (domain) => (/[^ -~]/.test(domain) ? domainToASCII(domain) : ""));
}

/** Returns an address with its domain rewritten; unchanged if the function returns an empty text. */
export function withDomain(email: string, write: (domain: string) => string): string {
  const domain = email.slice(email.lastIndexOf("@") + 1);
  const written = write(domain);
  return written === "" ? email : `${email.slice(0, -domain.length)}${written}`;
}

/**
 * The form in which phones of a person are compared. An international prefix (00, 011) does not count, and ten digits are
 * the same number with and without the 1 of the US.
 */
export function phoneKey(digits: string): string {
  const number = digits.replace(/^(?:00|011)(?=\d{8})/, "");
  return /^1\d{10}$/.test(number) ? number.slice(1) : number;
}
