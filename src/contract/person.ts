/** The identifiers of a person: an email address, a phone, or the ID of a lead, each in one normal form. */
import { domainToASCII } from "node:url";

/** An identifier in its normalized form: an address in lower case, digits without a prefix, or a UUID. */
export interface PersonIdentifier {
  readonly kind: "email" | "phone" | "id";
  readonly value: string;
  /** The form in which an earlier version compared it, if that differs. A file may have blocks of that form. */
  readonly earlier?: string;
}

/** Returns the normalized form of an email address or a phone. */
export function identifierOf(kind: "email" | "phone", text: string): PersonIdentifier {
  const value = kind === "email" ? emailKey(text) : phoneKey(text);
  const earlier = kind === "email" ? earlierEmailKey(text) : earlierPhoneKey(text);
  return earlier === value ? { kind, value } : { kind, value, earlier };
}

/**
 * Returns the key by which email addresses are compared: compatible letters are one (NFKC), invisible characters and case do not
 * count, and the domain is in ASCII.
 */
export function emailKey(email: string): string {
  if (/^[!-~]*$/.test(email)) return email.toLowerCase();
  const key = withoutInvisible(email.normalize("NFKC")).toLowerCase().normalize("NFKC").trim();
  return withDomain(key, asciiDomain);
}

function earlierEmailKey(email: string): string {
  return withDomain(email.trim().toLowerCase().normalize("NFC"), asciiDomain);
}

/** An ASCII domain is kept unchanged: domainToASCII would make the IP address 1.2.0.3 of 1.2.3. */
function asciiDomain(domain: string): string {
  return /[^ -~]/.test(domain) ? domainToASCII(domain) : "";
}

/** Returns an address with its domain rewritten; unchanged if the function returns an empty text. */
export function withDomain(email: string, write: (domain: string) => string): string {
  const domain = email.slice(email.lastIndexOf("@") + 1);
  const written = write(domain);
  return written === "" ? email : `${email.slice(0, -domain.length)}${written}`;
}

/**
 * Returns the key by which phones are compared: the digits without an international prefix (+, 00, 011, 0011) and without leading
 * zeros. Ten digits are the same number with and without the 1 of the US.
 */
export function phoneKey(text: string): string {
  const digits = /^\d*$/.test(text) ? text : plainText(text).replaceAll(/\D/g, "");
  const number = digits.replace(/^0{1,2}11(?=\d{8})/, "").replace(/^0+(?=[1-9])/, "");
  return /^1\d{10}$/.test(number) ? number.slice(1) : number;
}

function earlierPhoneKey(text: string): string {
  const number = text.replaceAll(/\D/g, "").replace(/^(?:00|011)(?=\d{8})/, "");
  return /^1\d{10}$/.test(number) ? number.slice(1) : number;
}

/** Returns a text with its percent-encoding decoded, in ordinary letters and ASCII digits, without invisible characters. */
export function plainText(text: string): string {
  if (!/%[0-9a-f]{2}|[^ -~]/i.test(text)) return text;
  return asciiDigits(withoutInvisible(decodePercent(text).normalize("NFKC")));
}

/** Decodes each valid sequence of percent-encoding. A stray `%` is kept. */
export function decodePercent(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (sequence) =>
    Buffer.from(sequence.replaceAll("%", ""), "hex").toString("utf8"),
  );
}

/** Removes invisible characters, such as zero-width joiners and soft hyphens. */
export function withoutInvisible(text: string): string {
  return text.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
}

/** Writes the digits of other scripts as ASCII: within a script, zero to nine follow one another. */
export function asciiDigits(text: string): string {
  if (!/[^ -~]/.test(text)) return text;
  return text.replaceAll(/[^\P{Nd}0-9]/gu, (digit) => {
    let zero = digit.codePointAt(0) ?? 0;
    const isDigit = (point: number) => /\p{Nd}/u.test(String.fromCodePoint(point));
    const point = zero;
    while (isDigit(zero - 1) && point - zero < 9) zero--;
    return String(point - zero);
  });
}
