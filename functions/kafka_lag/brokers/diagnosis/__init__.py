# SPDX-License-Identifier: Apache-2.0
"""Why a cluster cannot be read, or not wholly: loaded where something fails, and by `doctor`.

`ports` looks at what servers speak, `unreachable` makes one error of it, `inspection` and `acls`
find what a login may not do.
"""
