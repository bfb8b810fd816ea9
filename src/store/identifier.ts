/** An identifier of a person, as it is compared: in lower case, digits without the 1 of the US, a UUID. */
export interface PersonIdentifier {
  readonly kind: "email" | "phone" | "id";
  readonly value: string;
}
