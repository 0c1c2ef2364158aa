package import Fieldpack
package import FieldpackCore

/// A server that has parts of the layers of a store.
package struct ShardServer: Sendable {
  /// What the store's server calls it (`CREATE SERVER`).
  package let name: String
  /// Where it is, for this process and for the store's server.
  package let address: PostgresAddress

  package init(name: String, address: PostgresAddress) {
    (self.name, self.address) = (name, address)
  }

  /// The servers of a store's config: `"servers": [{"name": "north", "uri": "postgresql://…"}]`.
  ///
  /// - Throws: `.configuration`, also for a password in a uri.
  package static func all(of config: StoreConfig) throws(FieldpackError) -> [ShardServer] {
    guard let option = config.options?["servers"], !option.isNull else { return [] }
    var servers: [ShardServer] = []
    for element in option.elements {
      guard let name = element["name"]?.text, !name.isEmpty, let uri = element["uri"]?.text,
        name.utf8.count <= longestIdentifier
      else {
        servers = []
        break
      }
      guard !servers.contains(where: { $0.name == name }) else {
        throw config.failure(
          .configuration,
          "the server '\(name)' is twice in the option 'servers' of store '\(config.id)'")
      }
      var single = config
      (single.uri, single.options) = (uri, nil)
      servers.append(ShardServer(name: name, address: try PostGISConfig(single).address))
    }
    guard !servers.isEmpty else {
      throw config.failure(
        .configuration,
        "the option 'servers' of store '\(config.id)' is a list of objects with 'name' and 'uri'")
    }
    return servers
  }

  /// How the store's server reaches it: all keywords of libpq but those of the user. Two changes that wait
  /// for each other on two servers are seen by neither, so that locks have a limit, if the uri sets no other.
  var options: [(name: String, value: String)] {
    let own = address.keywords.filter { $0.name == "options" }.map(\.value)
    let settings = ["-c lock_timeout=30s"] + own
    return address.keywords.filter { $0.name != "user" && $0.name != "options" }
      + [
        ("options", settings.joined(separator: " ")), ("extensions", "postgis"),
        ("fetch_size", "10000"), ("batch_size", "1000"), ("async_capable", "true"),
      ]
  }

  /// Who signs in there. A password is none of this: the store's server has a service file or a
  /// password file of its own, which only a superuser may let others use.
  var userOptions: [(name: String, value: String)] {
    address.keywords.filter { $0.name == "user" } + [("password_required", "false")]
  }
}
