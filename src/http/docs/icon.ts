/** The sign of the pages in a browser's tab: a card with a person, as an address that needs no request. */
const drawing =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3.5" fill="#0a58a8"/>' +
  '<circle cx="8" cy="6" r="2.4" fill="#fff"/><path d="M3.4 13c.5-2.7 2.3-4 4.6-4s4.1 1.3 4.6 4z" fill="#fff"/></svg>';

export const iconAddress = `data:image/svg+xml,${encodeURIComponent(drawing)}`;
