import type { Mintmark } from "./client.js";
import type { CredentialsProviderOpenParams } from "../generated/methods.js";
import type { Credentials, CredentialsProviderAnswerReady } from "../generated/types.js";

/** The return value of a backend, such as the result of `token.mintForDeveloper`. */
export interface IdentityToken {
  identityId: string;
  token: string;
}

/** The request for a token of the application's backend. */
export interface TokenRequired {
  /** The current identity ID, which the backend passes to `token.mintForDeveloper`; undefined if there is none. */
  identityId?: string;
  /** The reason a token is required. */
  reason?: string;
}

/** The options of a credentials provider. */
export type CredentialsProviderOptions = Omit<CredentialsProviderOpenParams, "tokenSource"> & {
  /** Returns a token for the user of `logins`, minted by the application's backend. If it throws, the call rejects with the same error. */
  onTokenRequired(logins: { [provider: string]: string }, required: TokenRequired): IdentityToken | Promise<IdentityToken>;
};

/**
 * Provides valid temporary credentials of one user and renews them when necessary. If the application's backend must issue a token,
 * `onTokenRequired` is called once for all waiting calls.
 */
export declare class CredentialsProvider {
  /** The first call opens the provider. If the process has ended, the next call opens it again with the same identity. */
  constructor(client: Mintmark, options: CredentialsProviderOptions);

  /** Returns valid credentials, with `identityId` and `roleArn`. `refresh` renews them even if they are still valid. */
  get(options?: { refresh?: boolean }): Promise<CredentialsProviderAnswerReady & { credentials: Credentials; roleArn: string }>;

  /** Returns the ID of the identity. */
  identityId(): Promise<string>;

  /** Replaces the user's logins. The identity ID is kept, unless the logins are already linked to another identity. */
  setLogins(logins: { [provider: string]: string }): Promise<void>;

  /** Discards the credentials and keeps the identity. */
  clearCredentials(): Promise<void>;

  /** Discards the credentials, the identity and the logins. Call this when the user signs out or another user signs in. */
  clearKeychain(): Promise<void>;

  /** Closes the provider and discards its data in memory. The store keeps the identity ID under the provider's key. */
  close(): Promise<void>;
}
