extension String {
  /// The text where it is free, else with `_2`, `_3` and so on behind it the first that is.
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
