extension String {
  /// The first name that is free among this one, this one with `_2` behind it, with `_3` and so on.
  package func numbered<E: Error>(
    until isFree: (String) throws(E) -> Bool
  ) throws(E) -> String {
    var (name, number) = (self, 1)
    while try !isFree(name) {
      number += 1
      name = "\(self)_\(number)"
    }
    return name
  }
}
