// An issuer that is not ours, for a test: node provider.mjs PORT CLIENT SECRET REDIRECT
import Provider from 'oidc-provider';

const [port, client_id, client_secret, redirect] = process.argv.slice(2);
const provider = new Provider(`http://localhost:${port}`, {
  clients: [{ client_id, client_secret, redirect_uris: [redirect] }],
  claims: { openid: ['sub', 'groups'], profile: ['name'] },
  conformIdTokenClaims: false,
  pkce: { required: () => true },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, name: `Name of ${id}`, groups: id === 'olga' ? ['admin'] : [] }) }),
});
provider.listen(Number(port), 'localhost', () => console.log('listening'));
