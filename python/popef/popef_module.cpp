// Extension module popef._popef: the container library. Classes keep the accessor methods of C++;
// containers come back as copies, sub-objects (tensorInfo(), programFlow()) can be changed in
// place.

#include "python/popef/bindings.hpp"

PYBIND11_MODULE(_popef, module) {
  pybind11::register_exception<popef::Error>(module, "Error", PyExc_RuntimeError);
  popef::BindValues(module);
  popef::BindFiles(module);
}
