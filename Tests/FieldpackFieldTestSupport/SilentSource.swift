import FieldpackCore
package import FieldpackLocation

/// Gives some fixes, and then nothing until it is cancelled.
package struct SilentSource: LocationSource {
  package let first: [Fix]

  package init(first: [Fix] = []) { self.first = first }

  package func updates() -> LocationUpdates {
    let first = first
    return LocationUpdates {
      let given = Locked(false)
      return { () async throws(FieldpackError) in
        let isFirst = given.withLock { given in
          defer { given = true }
          return !given
        }
        if isFirst, !first.isEmpty { return first.map { .fix($0) } }
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
        throw FieldpackError(.interrupted, "the reading of fixes was cancelled")
      }
    }
  }
}
