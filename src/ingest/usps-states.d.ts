declare module "usps-states" {
  /** The states, DC, the territories and the codes of military mail, as the US postal service lists them. */
  export const data: readonly { readonly name: string; readonly abbr: string }[];
}
