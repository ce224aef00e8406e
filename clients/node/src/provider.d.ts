import type { Mintmark } from "./client.js";
import type { CredentialsProviderOpenParams } from "../generated/namespaces.js";
import type { Credentials, CredentialsProviderAnswer } from "../generated/types.js";

/** What a backend gives: the result of `token.mintForDeveloper` is one. */
export interface IdentityToken {
  identityId: string;
  token: string;
}

/** What is known of a token that is needed. */
export interface TokenRequired {
  /** The identity that is kept so far, for the backend to name in `token.mintForDeveloper`. */
  identityId?: string;
  /** Why it is needed. */
  reason?: string;
}

/** How a provider is opened. */
export type CredentialsProviderOptions = Omit<CredentialsProviderOpenParams, "tokenSource"> & {
  /** Gives the token for the users of `logins`, minted by the application's own backend. What it throws, the call rejects with. */
  onTokenRequired(logins: { [provider: string]: string }, required: TokenRequired): IdentityToken | Promise<IdentityToken>;
};

/**
 * Keeps the temporary credentials of one user fresh. Where a token of the application's own backend is needed, `onTokenRequired` is
 * asked for it; calls that come meanwhile wait for the same one.
 */
export declare class CredentialsProvider {
  /** The first call opens it; after the process has died the next one opens it again, with the same identity. */
  constructor(client: Mintmark, options: CredentialsProviderOptions);

  /** Credentials that are good for a while, with `identityId` and `roleArn`. `refresh` renews them in any case. */
  get(options?: { refresh?: boolean }): Promise<CredentialsProviderAnswer & { identityId: string; credentials: Credentials }>;

  /** The id of the identity. */
  identityId(): Promise<string>;

  /** Says who the user is now. The identity is kept, and may become another one that the logins own. */
  setLogins(logins: { [provider: string]: string }): Promise<void>;

  /** Drops the credentials and keeps the identity. */
  clearCredentials(): Promise<void>;

  /** Drops everything: credentials, identity and logins. For a sign-out, and for another user. */
  clearKeychain(): Promise<void>;

  /** What it holds in memory is gone; the identity's id stays in the store under its key. */
  close(): Promise<void>;
}
